import { shortRevision } from '../../../crds/agent-revision.ts';
import { ageOf } from '../../age.ts';
import { indent, table } from '../../table.ts';
import type { Style } from '../style.ts';
import type { Assessment, ConditionFinding } from './assess.ts';
import type { Relation } from './relations.ts';
import type { Explanation, Revision } from './surroundings.ts';

/** Prints for a person: the verdict first, then what to do. */
export function printAssessment(assessment: Assessment): string {
  const { kind, namespace, name, ready, summary, problems, remarks, notes } = assessment;
  const sections = [
    `${kind} ${namespace}/${name} is ${ready ? 'ready' : 'not ready'}: ${summary}.`,
    ...problems.map((problem) => findingBlock(problem, 'what to do')),
    ...remarks.map((remark) => findingBlock(remark, 'does not keep it from being ready')),
    ...notes.map((note) => `Note: ${note}.`),
  ];
  return `${sections.join('\n\n')}\n`;
}

function findingBlock({ condition, reason, message, cure }: ConditionFinding, label: string): string {
  const lines = message.split('; ').map((part, index) => `  ${index === 0 ? '' : '  '}${part}`);
  return [`${condition}: ${reason}`, ...lines, ...(cure === undefined ? [] : [`  → ${label}: ${cure}`])].join('\n');
}

export function printExplanation(explanation: Explanation, { style, now }: { readonly style: Style; readonly now: number }): string {
  const { revision, events } = explanation;
  const sections = [
    printAssessment(explanation),
    ...(revision === undefined ? [] : [serving(revision, now)]),
    ...(explanation.toolChanges === undefined ? [] : [toolChanges(explanation.toolChanges, style)]),
    relations('Refers to', explanation.refersTo, style),
    relations('Referred to by', explanation.referredToBy, style),
    events === undefined || events.length === 0
      ? 'Last events: none\n'
      : `Last events\n${indent(
          table(
            ['AGE', 'TYPE', 'REASON', 'TIMES', 'MESSAGE'],
            events.map((event) => [
              ageOf(event.time, now),
              event.type,
              event.reason,
              String(event.count),
              event.message.replace(/\s+/g, ' '),
            ]),
            // People look for the message here.
            { wide: true },
          ),
        )}`,
  ];
  return sections.join('\n');
}

function serving({ serving: revision, since, desired, canary }: Revision, now: number): string {
  if (revision === undefined) return 'Serves no revision: new calls are refused\n';
  const age = since === undefined ? '' : `, for ${ageOf(since, now)}`;
  if (canary !== undefined)
    return `Serves revision ${shortRevision(revision)}${age}; ${canary.percent} % of new calls start with ${shortRevision(canary.revision)}\n`;
  const other = desired === undefined || desired === revision ? '' : `; the spec asks for ${shortRevision(desired)}`;
  return `Serves revision ${shortRevision(revision)}${age}${other}\n`;
}

const SIGNS = { Added: '+', Removed: '-', Changed: '~' } as const;

/** Shows a diff of the tools that agents use, and those that the server has. */
function toolChanges(changes: NonNullable<Explanation['toolChanges']>, style: Style): string {
  const lines = changes.flatMap(({ tool, change, before, after, parametersChanged }) => [
    `  ${SIGNS[change]} ${tool}`,
    ...(before === undefined ? [] : [style.bad(`      - ${oneLine(before)}`)]),
    ...(after === undefined ? [] : [style.good(`      + ${oneLine(after)}`)]),
    ...(parametersChanged === true ? ['      ~ its parameters'] : []),
  ]);
  return `Tools of the server that wait to be accepted\n${lines.join('\n')}\n`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

function relations(title: string, all: readonly Relation[], style: Style): string {
  if (all.length === 0) return `${title}: nothing\n`;
  return `${title}\n${all.map((relation) => tree(relation, '  ', style)).join('')}`;
}

function tree({ object, field, state, sound, refersTo: below = [] }: Relation, margin: string, style: Style): string {
  const mark = sound === undefined ? style.weak('?') : sound ? style.good('✓') : style.bad('✗');
  const line = `${margin}${mark} ${object}: ${state}  ${style.weak(`(${field})`)}\n`;
  return line + below.map((relation) => tree(relation, `${margin}    `, style)).join('');
}
