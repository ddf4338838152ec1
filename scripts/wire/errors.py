"""A fault of a contract."""


class ContractError(Exception):
    """Something in the contract that the generator does not accept; the text names the place."""
