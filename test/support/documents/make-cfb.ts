import * as XLSX from '@e965/xlsx';

/** Makes a container of the old Office kind with these streams. */
export function makeCfb(streams: Readonly<Record<string, Buffer>>): Buffer {
  const container = XLSX.CFB.utils.cfb_new();
  for (const [name, content] of Object.entries(streams)) XLSX.CFB.utils.cfb_add(container, `/${name}`, content);
  return Buffer.from(XLSX.CFB.write(container, { type: 'buffer' }) as Uint8Array);
}

/** Makes the outside of an encrypted docx or xlsx. @see MS-OFFCRYPTO 2.3.4 */
export function encryptedPackage(): Buffer {
  return makeCfb({ EncryptionInfo: Buffer.alloc(200, 4), EncryptedPackage: Buffer.alloc(8000, 5) });
}

/** Makes a workbook of the old kind whose records are encrypted from the second on. @see MS-XLS 2.4.117 */
export function encryptedXls(): Buffer {
  const record = (type: number, content: Buffer): Buffer => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(type, 0);
    head.writeUInt16LE(content.length, 2);
    return Buffer.concat([head, content]);
  };
  const begin = record(0x0809, Buffer.from('00060500000000000000000006000000', 'hex'));
  const filePass = record(0x002f, Buffer.concat([Buffer.from('010001000100', 'hex'), Buffer.alloc(48, 7)]));
  return makeCfb({ Workbook: Buffer.concat([begin, filePass, record(0x000a, Buffer.alloc(0))]) });
}
