/** Prints the screen that is read first: what runs, what is ready, what is not and what to do. */
import { indent, table } from '../../table.ts';
import { ageOf } from '../../age.ts';
import type { Style } from '../style.ts';
import type { DeploymentReport } from './deployments.ts';
import type { KindReport, StatusProblem, StatusReport } from './gather.ts';
import type { ResourceReport, ReportedState } from './resources.ts';

export interface PrintStatusOptions {
  readonly wide: boolean;
  readonly now: number;
  readonly style: Style;
}

/** Number of ready resources of a kind that are shown; those that are not ready are all shown. */
const READY_SHOWN = 5;
const MESSAGE_LENGTH = 100;

export function printStatus(report: StatusReport, options: PrintStatusOptions): string {
  const sections = [
    heading(report),
    deployments(report, options),
    definitions(report, options),
    ...report.kinds.map((kind) => resources(kind, report.namespace === undefined, options)),
    problems(report, options),
    report.notes.map((note) => `Note: ${note}.\n`).join(''),
    verdict(report, options),
  ];
  return sections.filter((section) => section !== '').join('\n');
}

function heading({ client, cluster, namespace, organization }: StatusReport): string {
  const where =
    namespace === undefined
      ? 'all namespaces'
      : `${namespace}${organization === undefined ? '' : organization ? ' (an organisation)' : ' (not an organisation)'}`;
  return [
    `Cluster     ${cluster.version} ${cluster.server} (context ${cluster.context})\n`,
    `Namespace   ${where}\n`,
    `kubectl parley ${client}\n`,
  ].join('');
}

function deployments({ deployments: all, operator }: StatusReport, { wide, now, style }: PrintStatusOptions): string {
  const sign = { leading: `at work: ${operator.holder ?? ''}`, silent: 'silent', none: 'none at work', unknown: 'not known' }[
    operator.state
  ];
  const leader = `Operator    ${operator.state === 'leading' ? sign : operator.state === 'unknown' ? sign : style.bad(sign)}\n`;
  if (all === undefined) return leader;
  if (all.length === 0) return `${leader}Deployments none of the chart can be seen\n`;
  const header = ['ROLE', 'READY', 'UP-TO-DATE', 'VERSION', 'NAMESPACE', 'AGE', 'STATE', ...(wide ? ['RELEASE', 'CHART', 'IMAGE'] : [])];
  const row = (one: DeploymentReport): readonly string[] => [
    one.role,
    `${one.ready}/${one.desired}`,
    String(one.updated),
    one.version,
    one.namespace,
    ageOf(one.createdAt, now),
    one.healthy ? 'ok' : (one.reason ?? ''),
    ...(wide ? [one.release, one.chart, one.image] : []),
  ];
  return `${leader}${style.bold('Installation')}\n${indent(table(header, all.map(row), { wide }))}`;
}

function definitions({ definitions: all }: StatusReport, { wide, style }: PrintStatusOptions): string {
  const states = new Set(all.map(({ state, versions }) => `${versions.join(', ')} ${state}`.trim()));
  const [only] = states;
  // Equal states of all definitions are one line.
  if (!wide && states.size === 1 && all.every(({ healthy }) => healthy)) return `Definitions ${all.length} kinds, ${only}\n`;
  const rows = all.map((one) => [one.name, one.versions.join(','), one.storedVersions?.join(',') ?? '', one.state]);
  return `${style.bold('Definitions')}\n${indent(table(['NAME', 'VERSIONS', 'STORED', 'STATE'], rows))}`;
}

function resources({ plural, resources: all }: KindReport, withNamespace: boolean, options: PrintStatusOptions): string {
  const { wide, now, style } = options;
  const title = style.bold(plural);
  if (all === undefined) return `${title}: may not be listed\n`;
  if (all.length === 0) return `${title}: none\n`;
  const count = (state: ReportedState): number => all.filter((one) => one.state === state).length;
  const suspended = count('suspended');
  const counts = `${count('ready')} ready, ${count('not ready')} not ready, ${count('stalled')} stalled${suspended === 0 ? '' : `, ${suspended} suspended`}`;
  const ready = all.filter(({ state }) => state === 'ready');
  const shown = [...all.filter(({ state }) => state !== 'ready'), ...(wide ? ready : ready.slice(0, READY_SHOWN))];
  const header = [...(withNamespace ? ['NAMESPACE'] : []), 'NAME', 'STATE', 'REASON', 'AGE', ...(wide ? ['SINCE'] : []), 'MESSAGE'];
  const row = (one: ResourceReport): readonly string[] => [
    ...(withNamespace ? [one.namespace] : []),
    one.name,
    one.state,
    one.reason,
    ageOf(one.createdAt, now),
    ...(wide ? [one.since === undefined ? '' : ageOf(one.since, now)] : []),
    wide ? one.message : cut(one.message),
  ];
  const hidden = all.length - shown.length;
  const rest = hidden === 0 ? '' : `  … and ${hidden} more that ${hidden === 1 ? 'is' : 'are'} ready (-o wide shows all)\n`;
  return `${title}: ${counts}\n${indent(table(header, shown.map(row), { wide }))}${rest}`;
}

function problems({ problems: all }: StatusReport, { style }: PrintStatusOptions): string {
  if (all.length === 0) return '';
  const block = ({ what, reason, message, cure }: StatusProblem): string =>
    `  ${style.bad('✗')} ${what}: ${reason}: ${cut(message, 300)}\n${cure === undefined ? '' : `      → ${cure}\n`}`;
  return `${style.bold('What is not ready, and what to do')}\n${all.map(block).join('')}`;
}

function verdict({ problems: all, namespace }: StatusReport, { style }: PrintStatusOptions): string {
  if (all.length === 0) return `${style.good('✓')} everything that can be seen is ready\n`;
  const flag = namespace === undefined ? '-n <namespace>' : `-n ${namespace}`;
  return `${style.bad('✗')} ${all.length} not ready; more about one: kubectl parley explain <kind>/<name> ${flag}\n`;
}

function cut(text: string, length = MESSAGE_LENGTH): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}
