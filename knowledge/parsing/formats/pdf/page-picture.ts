import type { Address, Pdfium } from './pdfium.ts';
import { greyPng } from './png.ts';

/** The resolution that recognition of text wants; very large pages get a lower one, by `MOST_PIXELS`. */
const DOTS_PER_POINT = 200 / 72;
const MOST_PIXELS = 4_000_000;
/** @see fpdfview.h */
const GREY = 1;
const WHITE = 0xffffffff;
const WITH_ANNOTATIONS = 1;
const IN_GREY = 8;
/** Least contrast, of 255: a page whose darkest and lightest points differ less is blank. */
const LEAST_CONTRAST = 48;

/** Draws a page in shades of grey. @returns a PNG, or undefined for a blank page. @throws Error when the page is damaged */
export function pagePicture({ api }: Pdfium, document: Address, index: number): Buffer | undefined {
  const page = api.FPDF_LoadPage(document, index);
  if (page === 0) throw new Error(`PDFium can't load page ${index + 1}`);
  const { width, height } = pictureSize(api.FPDF_GetPageWidthF(page), api.FPDF_GetPageHeightF(page));
  const bitmap = api.FPDFBitmap_CreateEx(width, height, GREY, 0, 0);
  try {
    if (bitmap === 0) throw new RangeError('out of memory');
    api.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, WHITE);
    api.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, WITH_ANNOTATIONS | IN_GREY);
    const from = api.FPDFBitmap_GetBuffer(bitmap);
    const stride = api.FPDFBitmap_GetStride(bitmap);
    const pixels = new Uint8Array(width * height);
    for (let y = 0; y < height; y += 1) pixels.set(api.pdfium.HEAPU8.subarray(from + y * stride, from + y * stride + width), y * width);
    return isBlank(pixels) ? undefined : greyPng(pixels, width, height);
  } finally {
    if (bitmap !== 0) api.FPDFBitmap_Destroy(bitmap);
    api.FPDF_ClosePage(page);
  }
}

/** Returns the size in pixels for a page in points. */
export function pictureSize(width: number, height: number): { readonly width: number; readonly height: number } {
  const scale = Math.min(DOTS_PER_POINT, Math.sqrt(MOST_PIXELS / Math.max(1, width * height)));
  const side = (points: number): number => Math.max(1, Math.min(MOST_PIXELS, Math.floor(points * scale)));
  return { width: side(width), height: Math.min(side(height), Math.max(1, Math.floor(MOST_PIXELS / side(width)))) };
}

function isBlank(pixels: Uint8Array): boolean {
  let darkest = 255;
  let lightest = 0;
  for (const pixel of pixels) {
    if (pixel < darkest) darkest = pixel;
    if (pixel > lightest) lightest = pixel;
  }
  return lightest - darkest < LEAST_CONTRAST;
}
