"""One TCP socket of this machine, asked for by its two ends: the kernel's ``sock_diag``, and ``/proc/net`` without it.

The kernel answers the first at once, however many sockets there are. A table of ``/proc/net`` lists all of them.
"""

from __future__ import annotations

import socket
import struct
import sys
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, NamedTuple, TypeAlias

Address: TypeAlias = tuple[str, int]

TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")
_NETLINK_SOCK_DIAG: Final = 4
_SOCK_DIAG_BY_FAMILY: Final = 20
_NLM_F_REQUEST: Final = 1
_HEAD: Final = struct.Struct("=IHHII")
_ASKED: Final = struct.Struct("=BBBBI")
_ANY: Final = b"\xff" * 8
_UID_AND_INODE: Final = struct.Struct("=II")
_UID_AT: Final = 4 + 48 + 12
_SECONDS: Final = 1.0


class Found(NamedTuple):
    """A socket. Its inode is 0 once it is closed, and the kernel still sends what was written to it."""

    inode: int
    uid: int


def find_socket(own: Address, other: Address) -> Found | None:
    """The socket with these ends, if it is on this machine."""
    ends = _both(own), _both(other)
    for family in (4, 6):
        one, two = ends[0][family], ends[1][family]
        if one is not None and two is not None and (found := _asked((one, two), own, other)):
            return found
    return _listed(own, other)


_Ip: TypeAlias = IPv4Address | IPv6Address


def _both(address: Address) -> dict[int, _Ip | None]:
    """An address as IPv4 and as IPv6: a program may use either to reach the same server."""
    ip = ip_address(address[0].partition("%")[0])
    if isinstance(ip, IPv4Address):
        return {4: ip, 6: IPv6Address(f"::ffff:{ip}")}
    return {4: ip.ipv4_mapped, 6: ip}


def _asked(pair: tuple[_Ip, _Ip], own: Address, other: Address) -> Found | None:
    if sys.platform != "linux":
        return None
    family = socket.AF_INET if pair[0].version == 4 else socket.AF_INET6
    asked = _ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
    asked += struct.pack("!HH", own[1], other[1])
    asked += b"".join(each.packed.ljust(16, b"\0") for each in pair)
    asked += struct.pack("=I", 0) + _ANY
    head = _HEAD.pack(_HEAD.size + len(asked), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
            kernel.settimeout(_SECONDS)
            kernel.sendto(head + asked, (0, 0))
            answer = kernel.recv(1 << 12)
    except OSError:  # not in this kernel, or not for us
        return None
    if len(answer) < _HEAD.size + _UID_AT + _UID_AND_INODE.size:
        return None
    if _HEAD.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:  # an error: there is none
        return None
    uid, inode = _UID_AND_INODE.unpack_from(answer, _HEAD.size + _UID_AT)
    return Found(inode, uid)


def _listed(own: Address, other: Address) -> Found | None:
    ends = _both(own), _both(other)
    for path in TABLES:
        try:
            with open(path, "rb") as file:
                table = file.read()
        except OSError:  # no IPv6 here
            continue
        for family in (4, 6):
            one, two = ends[0][family], ends[1][family]
            if one is None or two is None:
                continue
            pair = f": {_printed(one)}:{own[1]:04X} {_printed(two)}:{other[1]:04X} "
            at = table.find(pair.encode())
            if at >= 0:
                fields = table[at + 2 : table.find(b"\n", at)].split()
                return Found(inode=int(fields[8]), uid=int(fields[6]))
    return None


def _printed(ip: _Ip) -> str:
    """As the kernel prints it: in words of four bytes, each in the byte order of this machine."""
    words = [ip.packed[at : at + 4] for at in range(0, len(ip.packed), 4)]
    return "".join(f"{int.from_bytes(each, sys.byteorder):08X}" for each in words)
