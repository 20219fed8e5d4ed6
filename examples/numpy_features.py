"""Features and labels you don't trust, as numpy arrays: predict, audit, save.

python examples/numpy_features.py
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from rehead import RobustGaussianClassifier, noise, score_labels

# 1,797 digits of 64 pixels; 40 % of the training labels are made wrong.
X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
noisy = noise.flip(y_train, rate=0.4, random_state=0)

for name in ("sample", "mcd", "posterior", "auto"):
    model = RobustGaussianClassifier(name, shrinkage="auto", random_state=0)
    model.fit(X_train, noisy.labels)
    kept = model.support_
    print(
        f"{name:10} accuracy on clean test labels {model.score(X_test, y_test):.3f}, "
        f"kept {kept.mean():.0%} of the samples, {(~noisy.changed)[kept].mean():.0%} of them clean"
    )

# Every label is judged by estimates that leave its sample out.
report = score_labels(model, X_train, noisy.labels)
worst = report.order[:100]
print(f"of the 100 worst labels {noisy.changed[worst].sum()} are wrong")
print(f"estimated noise {report.noise_rate:.0%}, truly {noisy.rate:.0%}")
print(model.explain())

model.save("digits-head.safetensors")
again = RobustGaussianClassifier.load("digits-head.safetensors")
assert (again.predict(X_test) == model.predict(X_test)).all()
print("saved to digits-head.safetensors")
