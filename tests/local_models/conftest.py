import pytest
from local_models.hub_stand_in import HubStandIn

from cloxy_core.local_models.hub import Hub


@pytest.fixture
def stand_in():
    with HubStandIn().running() as running:
        yield running


@pytest.fixture
def hub(stand_in):
    with Hub(stand_in.url) as made:
        yield made
