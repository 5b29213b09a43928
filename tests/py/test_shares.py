"""QUERN_SHARE: three interpreters together run every case."""
import types

from conftest import FEW, _shared_out


def test_three_shares_are_everything():
    names = [f"test_a[{i}]" for i in range(50)] + ["test_b", "test_c[0]"] + [f"test_d[{i}-x]" for i in range(FEW)]
    names += [f"test_diag.py::test_e[{i}]" for i in range(50)]
    items = [types.SimpleNamespace(nodeid=f"test_x.py::{name}", name=name) for name in names]
    shares = [_shared_out(items, f"{k}/3")[0] for k in (1, 2, 3)]
    many = [item.name for share in shares for item in share if item.name.startswith("test_a")]
    assert sorted(many) == sorted(names[:50])
    for share in shares:
        assert 5 < sum(item.name.startswith("test_a") for item in share) < 30
        assert [item.name for item in share if not item.name.startswith("test_a")] == names[50:]
    assert _shared_out(items, "1/1") == (items, [])
