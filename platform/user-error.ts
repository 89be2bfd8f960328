import { errorMessageOf } from './caught.ts';

/** Reports a failure that the person at the terminal can act on: it is printed without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly cure: string | undefined;
  readonly exitCode: number;
  constructor(message: string, options?: { readonly cure?: string; readonly cause?: unknown; readonly exitCode?: number }) {
    super(message, { cause: options?.cause });
    this.cure = options?.cure;
    this.exitCode = options?.exitCode ?? 1;
  }
}

/** Returns the message of the underlying error: `fetch` itself only says that it has failed. */
export function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return errorMessageOf(cause);
}

/** Returns the package that Node has not found, by either way of loading one. */
function missingPackageOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !/^(ERR_)?MODULE_NOT_FOUND$/.test(String(error.code))) return undefined;
  return /^Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w-][\w.-]*)/.exec(error.message)?.[1];
}

/** Prints a failure as a person wants it and returns the exit code: 1 expected, 70 a bug of ours. */
export function reportFailure(error: unknown, out: NodeJS.WritableStream): number {
  if (error instanceof UserError) {
    out.write(`parley: ${error.message}\n${error.cure === undefined ? '' : `  → ${error.cure}\n`}`);
    return error.exitCode;
  }
  if (error instanceof Error && error.name === 'ConfigError') {
    out.write(`parley: ${error.message}\n`);
    return 1;
  }
  const missing = missingPackageOf(error);
  if (missing !== undefined) {
    // npm's package of the command line leaves out what has native parts.
    const cure = 'run it from the archive of your platform, the image, or a checkout after `npm ci` (docs/cli.md#install)';
    out.write(`parley: this needs the package ${missing}, which is not installed next to it\n  → ${cure}\n`);
    return 1;
  }
  out.write(`parley: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 70;
}
