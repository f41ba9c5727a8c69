"""`eris peer`: which other machines may connect, and this vault's own key."""

import json

import click

from eris.cli.invocation import Invocation, example, json_option, pass_invocation


@example("eris peer key", "eris peer add laptop --role console --key '<its public key>'")
@click.group()
def peer() -> None:
    """Let other machines connect to this vault's bus, each with a key and one role."""


@example("eris peer key")
@peer.command()
@json_option
@pass_invocation
def key(invocation: Invocation, as_json: bool) -> None:
    """Print the public key of this vault, for the settings of the other machine."""
    from eris.remote import own_keys  # noqa: PLC0415 - zmq only where it's needed

    public = own_keys(invocation.paths()).public
    click.echo(json.dumps({"ok": True, "key": public}) if as_json else public)


@example("eris peer add laptop --role console --key '<its public key>'")
@peer.command()
@click.argument("name")
@click.option("--role", required=True, help="What it may be, such as console or discord.")
@click.option("--key", "public", required=True, help="Its public key, 40 characters.")
@json_option
@pass_invocation
def add(invocation: Invocation, name: str, role: str, public: str, as_json: bool) -> None:
    """Allow another machine to connect; takes effect when the bus is restarted."""
    from eris.remote import add_peer  # noqa: PLC0415

    add_peer(invocation.paths(), name, role, public)
    if as_json:
        click.echo(json.dumps({"ok": True, "name": name, "role": role}))
    else:
        click.echo(f"{name} may connect as {role} once you have run: eris restart bus")


@example("eris peer remove laptop")
@peer.command()
@click.argument("name")
@json_option
@pass_invocation
def remove(invocation: Invocation, name: str, as_json: bool) -> None:
    """Shut another machine out again; takes effect when the bus is restarted."""
    from eris.remote import remove_peer  # noqa: PLC0415

    remove_peer(invocation.paths(), name)
    if as_json:
        click.echo(json.dumps({"ok": True, "name": name}))
    else:
        click.echo(f"{name} is shut out once you have run: eris restart bus")


@example("eris peer list", "eris peer list --json")
@peer.command(name="list")
@json_option
@pass_invocation
def list_peers(invocation: Invocation, as_json: bool) -> None:
    """Show which machines may connect."""
    from eris.remote import load_peers  # noqa: PLC0415

    peers = load_peers(invocation.paths())
    if as_json:
        listed = {name: {"role": other.role, "key": other.key} for name, other in peers.items()}
        click.echo(json.dumps({"ok": True, "peers": listed}))
    elif peers:
        for name, other in sorted(peers.items()):
            click.echo(f"{name:<20} {other.role:<10} {other.key}")
    else:
        click.echo("No other machine may connect. Allow one with: eris peer add")
