import { readFileSync } from 'node:fs';

import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';

import { IngestionError } from '../../../ingestion-failure.ts';
import { pdfAsset } from '../../assets.ts';

/** An address in PDFium's memory: of a document, page or object. 0 is none. */
export type Address = number;

/** Bytes for the results of functions: numbers, and texts of up to half as many characters. */
const SCRATCH_BYTES = 8192;
const BOOKMARKS = 10_000;
const BOOKMARK_DEPTH = 6;
/** @see fpdfview.h */
const ERROR_PASSWORD = 4;
const ERROR_SECURITY = 5;

/** The functions that run for each character and object: PDFium's own, without the checks that the package makes on every call. */
interface FrequentFunctions {
  readonly FPDFText_GetLooseCharBox: (page: Address, at: number, box: Address) => number;
  readonly FPDFText_GetCharOrigin: (page: Address, at: number, x: Address, y: Address) => number;
  readonly FPDFText_GetUnicode: (page: Address, at: number) => number;
  readonly FPDFText_GetTextObject: (page: Address, at: number) => Address;
  readonly FPDFText_IsGenerated: (page: Address, at: number) => number;
  readonly FPDFText_IsHyphen: (page: Address, at: number) => number;
  readonly FPDFText_HasUnicodeMapError: (page: Address, at: number) => number;
  readonly FPDFText_GetMatrix: (page: Address, at: number, matrix: Address) => number;
  readonly FPDFText_GetFontSize: (page: Address, at: number) => number;
  readonly FPDFTextObj_GetFont: (object: Address) => Address;
  readonly FPDFTextObj_GetTextRenderMode: (object: Address) => number;
  readonly FPDFPage_CountObjects: (page: Address) => number;
  readonly FPDFPage_GetObject: (page: Address, at: number) => Address;
  readonly FPDFPageObj_GetType: (object: Address) => number;
  readonly FPDFPageObj_CountMarks: (object: Address) => number;
  readonly FPDFPageObj_GetFillColor: (object: Address, red: Address, green: Address, blue: Address, alpha: Address) => number;
  readonly FPDFPageObj_GetBounds: (object: Address, left: Address, bottom: Address, right: Address, top: Address) => number;
}

let compiled: WebAssembly.Module | undefined;

/** PDFium in a memory of its own, which goes with it: damage by one file reaches no other file. */
export class Pdfium {
  readonly api: WrappedPdfiumModule;
  readonly exports: FrequentFunctions;
  /** Memory for the results of a call, valid until the next one. */
  readonly scratch: Address;
  /** Memory for the number of bytes that a call reports. */
  readonly counter: Address;

  private constructor(api: WrappedPdfiumModule, exports: FrequentFunctions) {
    this.api = api;
    this.exports = exports;
    this.scratch = this.allocate(SCRATCH_BYTES);
    this.counter = this.allocate(8);
  }

  static async start(): Promise<Pdfium> {
    const module = (compiled ??= new WebAssembly.Module(readFileSync(pdfAsset())));
    let exports: unknown;
    const api = await init({
      instantiateWasm: (imports, done) => {
        const instance = new WebAssembly.Instance(module, imports);
        exports = instance.exports;
        done(instance);
        return instance.exports;
      },
      printErr: () => undefined,
    });
    api.PDFiumExt_Init();
    return new Pdfium(api, exports as FrequentFunctions);
  }

  allocate(bytes: number): Address {
    const address = this.api.pdfium.wasmExports.malloc(bytes);
    if (address === 0) throw new RangeError('out of memory');
    return address;
  }

  /** @throws IngestionError `password_protected`; Error when it is no PDF */
  open(content: Buffer): Address {
    const address = this.allocate(content.length);
    this.api.pdfium.HEAPU8.set(content, address);
    const document = this.api.FPDF_LoadMemDocument(address, content.length, '');
    if (document !== 0) return document;
    const reason = this.api.FPDF_GetLastError();
    if (reason === ERROR_PASSWORD || reason === ERROR_SECURITY)
      throw new IngestionError('password_protected', 'The PDF opens only with a password. Save it without one, and upload it again.');
    throw new Error(`PDFium can't open the document: error ${reason}`);
  }

  /** Opens the form, to read the values of its fields; 0 where there is none. */
  openForm(document: Address): Address {
    return this.api.PDFiumExt_InitFormFillEnvironment(document, this.api.PDFiumExt_OpenFormFillInfo());
  }

  /** Returns the four 32-bit floating point numbers that the last call wrote to the scratch memory: a box, or the start of a matrix. */
  floats(): readonly [number, number, number, number] {
    const { HEAPF32: floats } = this.api.pdfium;
    const at = this.scratch / 4;
    return [floats[at] ?? 0, floats[at + 1] ?? 0, floats[at + 2] ?? 0, floats[at + 3] ?? 0];
  }

  /** Returns a text in UTF-16, which `read` writes with a zero at its end. @param read returns the bytes that it needs */
  text(read: (buffer: Address, bytes: number) => number): string {
    let buffer = this.scratch;
    let bytes = read(buffer, SCRATCH_BYTES);
    if (bytes > SCRATCH_BYTES) {
      buffer = this.allocate(bytes);
      bytes = read(buffer, bytes);
    }
    const text = Buffer.from(this.api.pdfium.HEAPU8.subarray(buffer, buffer + Math.max(0, bytes - 2))).toString('utf16le');
    if (buffer !== this.scratch) this.api.pdfium.wasmExports.free(buffer);
    return text;
  }

  /** Returns a text in UTF-8, without the characters that a font's name never has. */
  name(read: (buffer: Address, bytes: number) => number): string {
    const bytes = Math.min(read(this.scratch, SCRATCH_BYTES), SCRATCH_BYTES);
    return Buffer.from(this.api.pdfium.HEAPU8.subarray(this.scratch, this.scratch + Math.max(0, bytes - 1))).toString();
  }

  /** Returns bytes that `read` writes, whose number it writes to the counter. @returns undefined where there are none to read */
  bytes(read: (buffer: Address, size: number) => boolean): Buffer | undefined {
    if (!read(0, 0)) return undefined;
    const size = this.api.pdfium.HEAPU32[this.counter / 4] ?? 0;
    const buffer = this.allocate(size + 1);
    read(buffer, size);
    const bytes = Buffer.from(this.api.pdfium.HEAPU8.subarray(buffer, buffer + size));
    this.api.pdfium.wasmExports.free(buffer);
    return bytes;
  }

  /** Returns titles of the document's bookmarks with their depth, from 1. */
  bookmarks(document: Address): readonly { readonly title: string; readonly depth: number }[] {
    const found: { title: string; depth: number }[] = [];
    const visit = (parent: Address, depth: number): void => {
      let bookmark = this.api.FPDFBookmark_GetFirstChild(document, parent);
      for (; bookmark !== 0 && found.length < BOOKMARKS; bookmark = this.api.FPDFBookmark_GetNextSibling(document, bookmark)) {
        found.push({ title: this.text((buffer, bytes) => this.api.FPDFBookmark_GetTitle(bookmark, buffer, bytes)), depth });
        if (depth < BOOKMARK_DEPTH) visit(bookmark, depth + 1);
      }
    };
    visit(0, 1);
    return found;
  }
}

// The package puts names into the global object when it first starts: this must not happen while a file is read.
await Pdfium.start();
