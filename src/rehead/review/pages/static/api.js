// Questions to the server. An answer that says no is a Refused; no answer is any other error.

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export async function get(path, query = {}) {
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== ""));
  return answered(await fetch(asked.size ? `${path}?${asked}` : path, { cache: "no-store" }));
}

export async function post(path, body) {
  return answered(
    await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  );
}

async function answered(response) {
  if (response.ok) return response.json();
  const text = await response.text();
  let said = text;
  try {
    said = JSON.parse(text).error || text;
  } catch {
    // Not JSON: the text itself says it.
  }
  throw new Refused(said || response.statusText, response.status);
}

export const newId = () => crypto.randomUUID();
