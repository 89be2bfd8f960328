import { randomBytes } from 'node:crypto';

export interface UuidOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number;
  /** `size` unpredictable bytes. */
  readonly random?: (size: number) => Buffer;
}

/** A UUID that sorts by the millisecond it was made in. Source: RFC 9562, section 5.7. */
export function uuidv7(options: UuidOptions = {}): string {
  const bytes = (options.random ?? randomBytes)(16);
  bytes.writeUIntBE((options.now ?? Date.now)(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
