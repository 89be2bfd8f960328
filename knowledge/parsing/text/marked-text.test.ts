import { describe, expect, it } from 'vitest';

import { STRUCK_LEFT_OUT } from '../left-out.ts';
import { RAISED, resolveMarks, STRUCK } from './marked-text.ts';

const resolved = (line: string): { readonly text: string; readonly warnings: readonly string[] } => {
  const warnings: string[] = [];
  const marked = line
    .replaceAll('^(', RAISED.open)
    .replaceAll(')^', RAISED.close)
    .replaceAll('~(', STRUCK.open)
    .replaceAll(')~', STRUCK.close);
  return { text: resolveMarks(marked, { warn: (warning) => warnings.push(warning) }), warnings };
};

describe('marked text', () => {
  it.each([
    ['12^(99)^ €', '12.99 €'],
    ['€ 12^(99)^', '€ 12.99'],
    ['$1,299^(00)^', '$1,299.00'],
    ['12,^(99)^ €', '12,99 €'],
    ['20 m^(2)^', '20 m²'],
    ['10^(3)^ litres', '10³ litres'],
    ['10^(-6)^', '10⁻⁶'],
    ['Deposit 320^(1)^ euros', 'Deposit 320¹ euros'],
    ['Deposit 320^(12)^ is due', 'Deposit 320¹² is due'],
    ['Deposit 320^(1,2)^', 'Deposit 320¹,²'],
    ['Deposit 320^(1))^', 'Deposit 320¹⁾'],
    ['the 1^(st)^ floor', 'the 1st floor'],
    ['Acme^(TM)^', 'AcmeTM'],
  ])('reads %s as %s', (line, expected) => {
    expect(resolved(line)).toEqual({ text: expected, warnings: [] });
  });

  it('leaves out what is struck through, and says so once there is any text in it', () => {
    expect(resolved('The tour costs ~(120 euros)~ 99 euros.')).toEqual({ text: 'The tour costs  99 euros.', warnings: [STRUCK_LEFT_OUT] });
    expect(resolved('The tour~( )~ costs 99 euros.')).toEqual({ text: 'The tour costs 99 euros.', warnings: [] });
  });
});
