import type { Assessment, Finding } from './assess.ts';

/** What a person reads: the verdict first, then what to do. */
export function print(assessment: Assessment): string {
  const { kind, namespace, name, ready, summary, problems, remarks, notes } = assessment;
  const sections = [
    `${kind} ${namespace}/${name} is ${ready ? 'ready' : 'not ready'}: ${summary}.`,
    ...problems.map((problem) => block(problem, 'what to do')),
    ...remarks.map((remark) => block(remark, 'does not keep it from being ready')),
    ...notes.map((note) => `Note: ${note}.`),
  ];
  return `${sections.join('\n\n')}\n`;
}

function block({ condition, reason, message, cure }: Finding, label: string): string {
  const lines = message.split('; ').map((part, index) => `  ${index === 0 ? '' : '  '}${part}`);
  return [`${condition}: ${reason}`, ...lines, ...(cure === undefined ? [] : [`  → ${label}: ${cure}`])].join('\n');
}
