import * as XLSX from '@e965/xlsx';

/** Excel's own date formats. Beyond the short date, the library ignores `dateNF`, shows them as the US do, and gives no name to some. */
const COUNTRY_FORMATS: ReadonlySet<unknown> = new Set(['m/d/yy', 'm/d/yy h:mm', undefined]);
const US_DATE = /^\d{1,2}\/\d{1,2}\/\d\d( \d{1,2}:\d\d)?$/u;

/**
 * Returns the text that a cell shows, the same in every country, with all digits of whole numbers: they are EANs, phone and account
 * numbers.
 */
export function shownValue(cell: XLSX.CellObject | undefined, uses1904: boolean): string {
  if (cell === undefined || cell.t === 'z') return '';
  const date = cell.t === 'n' && COUNTRY_FORMATS.has(cell.z) ? US_DATE.exec(cell.w ?? '') : null;
  if (date !== null) return formatted(cell, date[1] === undefined ? 'yyyy-mm-dd' : 'yyyy-mm-dd hh:mm', uses1904);
  if (Number.isSafeInteger(cell.v) && cell.w?.includes('E+') === true && /^general$/iu.test(String(cell.z ?? 'General')))
    return String(cell.v);
  if (cell.w !== undefined || cell.t !== 'n' || typeof cell.z !== 'string') return cell.w ?? String(cell.v ?? '');
  // The library takes a dot after a day or month (`dd.mm.yyyy`, as in German and others) for a decimal point, and gives up.
  return formatted(cell, cell.z.replace(/\.(?!0)/gu, '\\.'), uses1904);
}

function formatted(cell: XLSX.CellObject, format: string, uses1904: boolean): string {
  try {
    return String(XLSX.SSF.format(format, cell.v, { date1904: uses1904 }));
  } catch {
    return String(cell.v ?? '');
  }
}
