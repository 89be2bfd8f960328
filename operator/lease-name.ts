/** Name of the Lease that the operators of one deployment compete for. */
export const LEASE_NAME = 'parley-operator';
