/** A Secret that a delivery needs can't be had at the moment. No fault of the endpoint: the delivery waits. */
export class DeliverySecretError extends Error {
  override readonly name = 'DeliverySecretError';
  readonly reason: 'missing' | 'invalid' | 'forbidden' | 'unreachable';

  /** @param options.message names the Secret and the key, never a value */
  constructor(options: { readonly reason: DeliverySecretError['reason']; readonly message: string; readonly cause?: unknown }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = options.reason;
  }
}
