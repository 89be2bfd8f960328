import { describe, expect, it } from 'vitest';

import { judgeFileName } from './file-name.ts';

describe('the name of a file', () => {
  it.each([
    ['report.pdf', 'report.pdf', 'pdf'],
    ['REPORT.PDF', 'REPORT.PDF', 'pdf'],
    ['a.b.c.Xlsx', 'a.b.c.Xlsx', 'xlsx'],
    [' padded.md ', 'padded.md', 'md'],
    ['প্রশ্নোত্তর\u200c.txt', 'প্রশ্নোত্তর\u200c.txt', 'txt'],
    ['مرحبا\u200f.docx', 'مرحبا\u200f.docx', 'docx'],
    ['e\u0301.xls', '\u00e9.xls', 'xls'],
    [`${'x'.repeat(251)}.txt`, `${'x'.repeat(251)}.txt`, 'txt'],
    [`${'😀'.repeat(251)}.txt`, `${'😀'.repeat(251)}.txt`, 'txt'],
    ['.txt', '.txt', 'txt'],
    ['..txt', '..txt', 'txt'],
    ['<img src=x onerror=alert(1)>.txt', '<img src=x onerror=alert(1)>.txt', 'txt'],
  ])('%j is kept', (sent, name, extension) => {
    expect(judgeFileName(sent)).toEqual({ verdict: 'sound', name, extension });
  });

  it.each(['', ' ', '\u2003'])('%j is none', (sent) => {
    expect(judgeFileName(sent)).toEqual({ verdict: 'missing' });
  });

  it.each(['program.exe', 'pdf', 'report.pdf.zip', 'report.', 'report.pdf.', 'a.htm', 'a.txt~', 'a.pdf;.exe'])(
    '%j is of a kind that is not read',
    (sent) => {
      expect(judgeFileName(sent)).toEqual({ verdict: 'unsupported' });
    },
  );

  it.each([
    ['../../etc/passwd.txt', /path/],
    ['..\\..\\boot.txt', /path/],
    ['/etc/passwd.txt', /path/],
    ['C:\\Users\\me\\a.docx', /path/],
    ['a\u0000.txt', /control/],
    ['a.txt\u0000.pdf', /control/],
    ['a\r\nX-Header: 1.txt', /control/],
    ['a\u0085.txt', /control/],
    ['invoice\u202etxt.pdf', /direction/],
    ['\u2066a\u2069.txt', /direction/],
    ['caf\ufffd.txt', /UTF-8/],
    ['\ud800.txt', /UTF-8/],
    [`${'x'.repeat(296)}.txt`, /255/],
  ])('%j is refused', (sent, reason) => {
    expect(judgeFileName(sent)).toEqual({ verdict: 'unusable', reason: expect.stringMatching(reason) });
  });
});
