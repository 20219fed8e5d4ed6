"""Self-contained HTML pages."""

from rehead.report.demo import write_demo_report

__all__ = ["write_demo_report"]
