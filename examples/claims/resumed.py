"""A step that recovers by `resume`: its worker is killed, and a keeper runs it again, with the input that was stored."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

from sqlalchemy import BigInteger, String, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from semel import Semel, Step

written = Event()


class Base(DeclarativeBase):
    """Your models, as you have them."""


class Export(Base):
    """A file that somebody wants."""

    __tablename__ = "exports"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(String(20), default="wanted")
    version: Mapped[int] = mapped_column(BigInteger, default=0)


engine = create_engine("sqlite:///exports.db")
Base.metadata.create_all(engine)

once = Semel("sqlite:///exports.db", workflows=Path(__file__).with_name("exports.json"), lease_seconds=1)
once.create_tables()
exports = once.table(Export)


@once.action("WriteExport")
def write_export(step: Step[Export]) -> None:
    """Write the file under a name made of the row: a second run writes the same file, not another one."""
    path = Path(f"export-{step.id}.csv")
    path.write_text(f"{step.input['year']};1498\n")
    print(f"attempt {step.attempt}, fence {step.fence}: {path} for {step.input['year']}", flush=True)
    if step.attempt == 0:
        os.kill(os.getpid(), signal.SIGKILL)  # no finally runs, nothing is said to anybody
    written.set()


once.boot()  # keepers know the workflows from then on
if len(sys.argv) > 1:
    exports.advance(int(sys.argv[1]), "write", by="customer", input={"year": 2026})

with Session(engine) as session, session.begin():
    session.add(export := Export())
    session.flush()
    export_id = export.id

subprocess.run([sys.executable, __file__, str(export_id)], check=False)  # noqa: S603 - this file, in another process
with Session(engine) as session:
    print("killed:", session.get_one(Export, export_id).status)

keepers = once.rounds(sweep_seconds=0.2)
keepers.start()
written.wait(timeout=30)
keepers.stop()
with Session(engine) as session:
    print("resumed:", session.get_one(Export, export_id).status)
