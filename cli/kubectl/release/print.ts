import { diff } from 'node:util';

import { shortRevision } from '../../../crds/agent-revision.ts';
import { ageOf } from '../../age.ts';
import { table } from '../../table.ts';
import type { Style } from '../style.ts';
import type { ListedRevision, Release } from './source.ts';

/** Unchanged lines around a change. */
const CONTEXT = 3;

export function historyTable(
  { release, revisions }: { readonly release: Release | undefined; readonly revisions: readonly ListedRevision[] },
  { wide, now }: { readonly wide: boolean; readonly now: number },
): string {
  const stateOf = ({ state }: ListedRevision): string =>
    state === 'canary' && release?.canary ? `canary ${release.canary.percent}%` : state;
  return table(
    ['REVISION', 'STATE', 'CREATED', 'CALLS', 'ERRORS', 'P95', 'LAST CHANGE', ...(wide ? ['BY', 'REASON'] : [])],
    revisions.map((revision) => {
      const { figures, last_change: last } = revision;
      const { calls, errors, p95_voice_to_voice_ms: p95 } = figures;
      return [
        wide ? revision.revision : shortRevision(revision.revision),
        stateOf(revision),
        ageOf(revision.created_at, now),
        String(calls),
        calls === 0 ? '-' : `${Math.round((1000 * errors) / calls) / 10}%`,
        p95 === undefined ? '-' : `${Math.round(p95)}ms`,
        last === undefined ? '-' : `${last.change}, ${ageOf(last.at, now)} ago`,
        ...(wide ? [last?.requested_by ?? '-', last?.reason ?? '-'] : []),
      ];
    }),
    { wide },
  );
}

/** Shows two texts as `diff -u` does; empty where they are alike. */
export function unifiedDiff(from: { readonly name: string; readonly text: string }, to: typeof from, style: Style): string {
  // Node marks lines that only the first text has with 1.
  const changes = diff(from.text.split('\n'), to.text.split('\n'));
  const kept = changes.map((_, index) => changes.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(([sign]) => sign !== 0));
  if (!kept.includes(true)) return '';
  const lines = [style.bold(`--- ${from.name}`), style.bold(`+++ ${to.name}`)];
  for (const [index, [sign, line]] of changes.entries()) {
    if (kept[index] !== true) continue;
    if (index > 0 && kept[index - 1] !== true) lines.push(style.weak('@@'));
    lines.push(sign === 0 ? ` ${line}` : sign > 0 ? style.bad(`-${line}`) : style.good(`+${line}`));
  }
  return `${lines.join('\n')}\n`;
}

export function releaseLine(agent: string, { serving_revision: serving, canary }: Release): string {
  const tried =
    canary === undefined ? 'all new calls start with it' : `${canary.percent} % of new calls start with ${shortRevision(canary.revision)}`;
  return `agent/${agent} serves revision ${shortRevision(serving)}: ${tried}\n`;
}
