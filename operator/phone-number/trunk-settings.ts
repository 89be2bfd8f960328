import type { Config } from '../../platform/config/config.ts';
import type { TrunkSettings } from './desired-trunks.ts';

type Settings = Pick<
  Config,
  | 'PARLEY_SIP_ALLOWED_ADDRESSES'
  | 'PARLEY_NATIVE_TERMINATION_URI'
  | 'PARLEY_NATIVE_TERMINATION_USERNAME'
  | 'PARLEY_NATIVE_TERMINATION_PASSWORD'
  | 'PARLEY_CARRIER_TERMINATION_URI'
>;

export function trunkSettingsOf(config: Settings): TrunkSettings {
  const { PARLEY_NATIVE_TERMINATION_URI: native, PARLEY_CARRIER_TERMINATION_URI: carrier } = config;
  return {
    allowedAddresses: config.PARLEY_SIP_ALLOWED_ADDRESSES.split(',')
      .map((address) => address.trim())
      .filter((address) => address !== ''),
    ...(native !== undefined && {
      native: {
        uri: native,
        username: config.PARLEY_NATIVE_TERMINATION_USERNAME,
        password: config.PARLEY_NATIVE_TERMINATION_PASSWORD,
      },
    }),
    ...(carrier !== undefined && { carrier: { uri: carrier } }),
  };
}
