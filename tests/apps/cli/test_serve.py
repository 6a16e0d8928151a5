"""`discreet serve` and `discreet token`: what is refused before a server starts."""

import socket

import pytest
from shell import folder_fixture, run  # noqa: F401


def test_looking_for_tokens_makes_no_file_of_them(folder):
    pytest.importorskip("fastapi")
    assert "No tokens in discreet-tokens.db. Make one" in run("token", "list", cwd=folder).stdout
    assert run("token", "list", "--json", cwd=folder).stdout.strip() == "[]"
    assert "--tokens state/tokens.db" in run("token", "revoke", "ann", cwd=folder, code=2).stderr
    assert "--tokens state/tokens.db" in run("token", "rotate", "ann", cwd=folder, code=2).stderr
    assert not list(folder.glob("*tokens*"))


@pytest.mark.parametrize("command", [("serve", "people.csv"), ("survey", "serve", "survey.toml")])
def test_a_port_that_is_taken_is_named_and_not_taken_for_a_refusal_of_the_budget(folder, command):
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    run("survey", "new", cwd=folder)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = run(*command, "--port", port, cwd=folder, code=2)
    assert "`--port` must be a port of 127.0.0.1 that is free" in done.stderr
    assert done.stdout == ""
    there = run(*command, "--host", "192.0.2.1", *(["--expose"] if "survey" in command else []), cwd=folder, code=2)
    assert "`--host` must be" in there.stderr
