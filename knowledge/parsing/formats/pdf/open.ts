import { getDocument, VerbosityLevel, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import * as worker from 'pdfjs-dist/legacy/build/pdf.worker.mjs';

import { IngestionFailure } from '../../../ingestion-failure.ts';
import { pdfAsset } from '../../assets.ts';

/** Opens without a worker thread (this process is the worker), without fonts of the system, canvas, scripts or forms. */
export async function openPdf(content: Buffer): Promise<PDFDocumentProxy> {
  // pdf.js takes its worker's code from here instead of loading a script.
  Object.assign(globalThis, { pdfjsWorker: worker });
  const task = getDocument({
    data: new Uint8Array(content.buffer, content.byteOffset, content.byteLength),
    cMapUrl: pdfAsset('cmaps'),
    cMapPacked: true,
    standardFontDataUrl: pdfAsset('standard_fonts'),
    useSystemFonts: false,
    useWorkerFetch: false,
    useWasm: false,
    disableFontFace: true,
    // With their names, which say whether they are bold.
    fontExtraProperties: true,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    // A picture is never decoded for its text.
    maxImageSize: 0,
    verbosity: VerbosityLevel.ERRORS,
  });
  try {
    return await task.promise;
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException')
      throw new IngestionFailure('password_protected', 'The PDF opens only with a password. Save it without one, and upload it again.', {
        cause: error,
      });
    throw error;
  }
}
