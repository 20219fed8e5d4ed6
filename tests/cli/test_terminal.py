"""Output whose reader may leave."""

import os
import sys

from rehead.cli.terminal import Patient, patient_output


def test_words_go_nowhere_once_the_reader_has_left():
    reading, writing = os.pipe()
    stream = Patient(os.fdopen(writing, "w"))
    stream.write("heard\n")
    stream.flush()
    assert os.read(reading, 99) == b"heard\n"
    os.close(reading)
    for _ in range(3):
        assert stream.write("x" * 100_000) == 100_000
        stream.flush()
    stream.close()


def test_the_stream_is_put_back(capsys):
    before = sys.stdout
    with patient_output():
        sys.stdout.write("said\n")
    assert sys.stdout is before
    assert capsys.readouterr().out == "said\n"
