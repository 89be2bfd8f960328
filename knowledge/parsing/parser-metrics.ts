import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { ParserKind } from './extension.ts';
import type { ProcessEndReason } from './recycling.ts';

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export interface ParserMetrics {
  running(change: number): void;
  finished(extension: string, outcome: string, seconds: number): void;
  started(kind: ParserKind): void;
  ended(kind: ParserKind, reason: ProcessEndReason): void;
}

export function parserMetrics(registry: Registry = new Registry()): ParserMetrics {
  const registers = [registry];
  const running = new Gauge({ name: 'parley_parsers_running', help: 'Files being read at the moment.', registers });
  const seconds = new Histogram({
    name: 'parley_parse_seconds',
    help: 'Time that a file takes in a parser process; the outcome is completed, left, error or the code of the failure.',
    labelNames: ['extension', 'outcome'],
    buckets: BUCKETS,
    registers,
  });
  const started = new Counter({
    name: 'parley_parser_processes_started_total',
    help: 'Parser processes that were started; the kind is plain (txt, md, html) or binary (pdf, docx, xlsx, xls).',
    labelNames: ['kind'],
    registers,
  });
  const ended = new Counter({
    name: 'parley_parser_processes_ended_total',
    help: 'Parser processes that ended: after their share of documents, memory or age, a failure, what a file left in them (remains), a limit that a file exceeded, a crash, or because they were cancelled, idle, in the way of a large_file, over the memory_budget, or closed.',
    labelNames: ['kind', 'reason'],
    registers,
  });
  return {
    running: (change) => running.inc(change),
    finished: (extension, outcome, took) => seconds.observe({ extension, outcome }, took),
    started: (kind) => started.inc({ kind }),
    ended: (kind, reason) => ended.inc({ kind, reason }),
  };
}
