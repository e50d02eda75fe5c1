import pytest

from cuckoofilter_postgres import _numpy


@pytest.fixture(params=[False, True], ids=["numpy", "python"])
def without_numpy(request, monkeypatch):
    """Run a test with numpy, if it is installed, and without."""
    if request.param:
        monkeypatch.setattr(_numpy, "np", None)
    elif _numpy.np is None:
        pytest.skip("numpy is not installed")
    return request.param
