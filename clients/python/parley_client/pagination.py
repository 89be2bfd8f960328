"""Lists that come in pages, object by object."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

T_co = TypeVar("T_co", covariant=True)
P = ParamSpec("P")


class DataPage(Protocol[T_co]):
    """A page of most lists."""

    @property
    def data(self) -> Sequence[T_co]: ...
    @property
    def next_page_token(self) -> object: ...


class CallsPage(Protocol[T_co]):
    """A page of calls."""

    @property
    def calls(self) -> Sequence[T_co]: ...
    @property
    def next_page_token(self) -> object: ...


@overload
def iterate(page: Callable[P, DataPage[T_co]], *args: P.args, **kwargs: P.kwargs) -> Iterator[T_co]: ...
@overload
def iterate(page: Callable[P, CallsPage[T_co]], *args: P.args, **kwargs: P.kwargs) -> Iterator[T_co]: ...
def iterate(page: Callable[..., Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Every object of a list, page after page: ``for agent in iterate(list_agents.sync, client=parley)``."""
    while True:
        found = page(*args, **kwargs)
        yield from _items(found)
        if not found.next_page_token:
            return
        kwargs["page_token"] = found.next_page_token


@overload
def iterate_async(
    page: Callable[P, Awaitable[DataPage[T_co]]], *args: P.args, **kwargs: P.kwargs
) -> AsyncIterator[T_co]: ...
@overload
def iterate_async(
    page: Callable[P, Awaitable[CallsPage[T_co]]], *args: P.args, **kwargs: P.kwargs
) -> AsyncIterator[T_co]: ...
async def iterate_async(page: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
    """As `iterate`: ``async for agent in iterate_async(list_agents.asyncio, client=parley)``."""
    while True:
        found = await page(*args, **kwargs)
        for item in _items(found):
            yield item
        if not found.next_page_token:
            return
        kwargs["page_token"] = found.next_page_token


def _items(page: Any) -> Sequence[Any]:
    return cast(Sequence[Any], page.calls if hasattr(page, "calls") else page.data)
