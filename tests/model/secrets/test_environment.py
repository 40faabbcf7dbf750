from dragoman.model.secrets import secrets_in


def test_variables_are_chosen_by_their_names() -> None:
    environment = {"OPENAI_API_KEY": "a", "DB_PASS": "b", "PATH": "c", "KEYBOARD": "d"}

    assert secrets_in(environment) == ("a", "b")
