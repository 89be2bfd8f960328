/** Makes scans: PDFs of which each page is a picture. */
import { pagePicture } from '../../../knowledge/parsing/formats/pdf/page-picture.ts';
import { Pdfium } from '../../../knowledge/parsing/formats/pdf/pdfium.ts';
import { makePdfOf, type PdfStream } from './make-pdf.ts';

/** Returns the same pages as pictures at 200 dots an inch. */
export async function scanned(pdf: Buffer): Promise<Buffer> {
  const pdfium = await Pdfium.start();
  const document = pdfium.open(pdf);
  const count = pdfium.api.FPDF_GetPageCount(document);
  const objects: (string | PdfStream)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${count} /Kids [${Array.from({ length: count }, (_, at) => `${3 + 3 * at} 0 R`).join(' ')}] >>`,
  ];
  for (let index = 0; index < count; index += 1) {
    const png = pagePicture(pdfium, document, index);
    if (png === undefined) throw new Error(`page ${index + 1} is blank`);
    const first = 3 + 3 * index;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /XObject << /I ${first + 2} 0 R >> >> /Contents ${first + 1} 0 R >>`,
      { entries: '', content: Buffer.from('q 595 0 0 842 0 0 cm /I Do Q') },
      imageOf(png),
    );
  }
  return makePdfOf(objects);
}

/** Reuses the picture's data, because PDF and PNG compress pictures alike. @see ISO 32000-2, 7.4.4.4 */
function imageOf(png: Buffer): PdfStream {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const at = png.indexOf('IDAT');
  return {
    entries: `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors 1 /BitsPerComponent 8 /Columns ${width} >>`,
    content: png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)),
  };
}
