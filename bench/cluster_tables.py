"""Figures as tables in Markdown, which are readable as they are and go into README.md as they are."""

POD_ROWS = (
    ("pods_per_second", "pods per second, from the first made to the last bound", "{:,.0f}"),
    ("created_per_second", "pods created per second", "{:,.0f}"),
    ("backlog_per_second", "pods per second, all there before", "{:,.0f}"),
    ("cpu_ms_per_pod", "scheduler's CPU per pod, ms", "{:.3f}"),
    ("cpu_user_ms_per_pod", "  in the program", "{:.3f}"),
    ("cpu_system_ms_per_pod", "  in the kernel", "{:.3f}"),
    ("algorithm_ms", "scheduling algorithm, average, ms", "{:.3f}"),
    ("peak_mib", "peak memory, MiB", "{:,.0f}"),
    ("backlog_peak_mib", "peak memory, all there before, MiB", "{:,.0f}"),
    ("before_mib", "memory before the first pod, MiB", "{:,.0f}"),
    ("events", "events written", "{:,}"),
    ("attempts_failed", "attempts that failed", "{:,}"),
)
START_ROWS = (
    ("seconds", "process start to first binding, s", "{:.2f}"),
    ("cpu_seconds", "scheduler's CPU until then, s", "{:.2f}"),
    ("peak_mib", "peak memory until then, MiB", "{:,.0f}"),
    ("lead_seconds", "standby: lease gained to first binding, s", "{:.2f}"),
    ("lead_cpu_seconds", "standby's CPU meanwhile, s", "{:.2f}"),
    ("lead_before_mib", "standby's peak memory before, MiB", "{:,.0f}"),
    ("lead_peak_mib", "standby's peak memory then, MiB", "{:,.0f}"),
)


def table(title, rows, results):
    """Figures by name of scheduler, in Markdown, which is readable as it is."""
    names = list(results)
    lines = [[title] + names]
    for key, label, form in rows:
        cells = [results[n].get(key) for n in names]
        if any(c is not None for c in cells):
            lines.append([label] + ["" if c is None else form.format(c) for c in cells])
    if any("failed" in r for r in results.values()):
        lines.append(["failed"] + [results[n].get("failed", "").split("\n")[0][:60] for n in names])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    lines.insert(1, ["-" * widths[0]] + ["-" * (w - 1) + ":" for w in widths[1:]])
    return "\n".join(
        "| " + " | ".join([line[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(line[1:], widths[1:])]) + " |"
        for line in lines
    )
