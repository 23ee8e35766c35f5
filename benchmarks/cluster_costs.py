def write_tables() -> None:
    raise NotImplementedError
