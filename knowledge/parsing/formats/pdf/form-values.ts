import { tick } from '../../text/tick.ts';
import type { Placing } from './glyph.ts';
import type { LinePiece } from './page-lines.ts';
import type { Address, Pdfium } from './pdfium.ts';

/** @see fpdf_annot.h, fpdf_formfill.h, ISO 32000-2, tables 167 and 226 to 229 */
const FREE_TEXT = 3;
const WIDGET = 20;
const HIDDEN = 0x22;
const PUSH_BUTTON = 1;
const CHECK_BOX = 2;
const RADIO_BUTTON = 3;
const PASSWORD = 0x2000;
/** Font size of values on the page: a field's height doesn't give it, because a field may hold a whole page. */
const SIZE = 11;

/** A value that people wrote into a field of a form or onto the page. */
export interface FormValue {
  readonly lines: readonly LinePiece[];
  /** The form's text for programs that read it aloud (`/TU`). */
  readonly description: string;
  /** The author's name for the field (`/T`). */
  readonly name: string;
}

export function formValues(pdfium: Pdfium, form: Address, page: Address, place: Placing): readonly FormValue[] {
  const { api } = pdfium;
  const values: FormValue[] = [];
  const count = api.FPDFPage_GetAnnotCount(page);
  for (let at = 0; at < count; at += 1) {
    const annotation = api.FPDFPage_GetAnnot(page, at);
    if (annotation === 0) continue;
    const text = (api.FPDFAnnot_GetFlags(annotation) & HIDDEN) === 0 ? annotationText(pdfium, form, annotation).trim() : '';
    if (text !== '' && api.FPDFAnnot_GetRect(annotation, pdfium.scratch))
      values.push({ lines: linesIn(text, pdfium.floats(), place), ...namesOf(pdfium, form, annotation) });
    api.FPDFPage_CloseAnnot(annotation);
  }
  return values;
}

function namesOf(pdfium: Pdfium, form: Address, annotation: Address): Pick<FormValue, 'description' | 'name'> {
  const { api } = pdfium;
  return {
    description: pdfium.text((buffer, bytes) => api.FPDFAnnot_GetFormFieldAlternateName(form, annotation, buffer, bytes)),
    name: pdfium.text((buffer, bytes) => api.FPDFAnnot_GetFormFieldName(form, annotation, buffer, bytes)),
  };
}

function annotationText(pdfium: Pdfium, form: Address, annotation: Address): string {
  const { api } = pdfium;
  const subtype = api.FPDFAnnot_GetSubtype(annotation);
  if (subtype === FREE_TEXT) return pdfium.text((buffer, bytes) => api.FPDFAnnot_GetStringValue(annotation, 'Contents', buffer, bytes));
  if (subtype !== WIDGET) return '';
  const type = api.FPDFAnnot_GetFormFieldType(form, annotation);
  if (type === PUSH_BUTTON || (api.FPDFAnnot_GetFormFieldFlags(form, annotation) & PASSWORD) !== 0) return '';
  if (type === CHECK_BOX || type === RADIO_BUTTON) return tick(isOn(pdfium, annotation));
  return pdfium.text((buffer, bytes) => api.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, bytes));
}

function isOn(pdfium: Pdfium, annotation: Address): boolean {
  const state = pdfium.text((buffer, bytes) => pdfium.api.FPDFAnnot_GetStringValue(annotation, 'AS', buffer, bytes));
  return state !== '' && state !== 'Off';
}

/** Places lines from the top of the field's rectangle, on the baseline that a label next to it has. */
function linesIn(text: string, [left = 0, top = 0, right = 0, bottom = 0]: readonly number[], place: Placing): readonly LinePiece[] {
  const corners = [place.point(left, bottom), place.point(right, top)];
  const [x, y] = [Math.min(...corners.map((corner) => corner[0])), Math.min(...corners.map((corner) => corner[1]))];
  const height = Math.abs(top - bottom);
  const lines = text.split(/[\r\n]+/u);
  const first = lines.length > 1 || height > 3 * SIZE ? y + SIZE : y + height / 2 + 0.35 * SIZE;
  const width = Math.abs(right - left);
  return lines.map((line, at) => ({
    text: line,
    left: x,
    right: x + Math.min(width, 0.5 * SIZE * line.length),
    y: first + at * 1.2 * SIZE,
    size: SIZE,
    isBold: false,
  }));
}
