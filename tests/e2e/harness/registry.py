"""The list of cases. A case is a function of a World (world.py), registered by the decorator."""


class Skip(Exception):
    """The case cannot be run here; the text says why."""


class Case:
    def __init__(self, name, function, placement, needs, servers, compare):
        self.name, self.function = name, function
        self.placement, self.needs, self.servers, self.compare = placement, needs, servers, compare


CASES = []


def case(placement=True, needs=(), servers=("embedded", "real"), compare=True):
    """Registers a case under `theme.function`.

    placement: which node each pod gets is determined, so that two schedulers must agree.
    needs: programs that must be there: "berth", "upstream", "kubectl", "openssl".
    servers: the servers that it makes sense on.
    compare: whether what it leaves behind is compared between schedulers.
    """

    def register(function):
        theme = function.__module__.rsplit(".", 1)[-1]
        CASES.append(Case(f"{theme}.{function.__name__}", function, placement, needs, servers, compare))
        return function

    return register
