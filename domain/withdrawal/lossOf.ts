/**
 * Recipients that can only lose what they receive on a chain: no code of theirs gives it back. Which addresses lose on
 * every chain of a family is a term of it (`lossAt`). Source: interface "Recipient rules for withdrawals" (API_211);
 * docs/decisions/0080-withdrawal-recipients.md.
 */
import { addressOf, type Address, type HeldAssetId, isNative } from "#domain/values/Caip.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { namedContracts, namedTokens } from "#domain/account/Permission.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"

/** The tokens of the withdrawal, and those that the portfolio trades in on the chain. */
const tokensOf = (
  chain: ChainAuthorization,
  assets: ReadonlyArray<{ readonly assetId: HeldAssetId }>
): ReadonlyArray<Address> => {
  const settlement = usdcOn(chain.chainId)
  return [
    ...assets.flatMap(({ assetId }) => (isNative(assetId) ? [] : [addressOf(assetId)])),
    ...namedTokens(chain),
    ...(settlement === undefined ? [] : [addressOf(settlement)])
  ]
}

/** What a recipient on a chain is held against. */
interface RecipientChain {
  readonly chain: ChainAuthorization
  /** What is withdrawn. */
  readonly assets: ReadonlyArray<{ readonly assetId: HeldAssetId }>
  /** Those of the service there now; the grant may name earlier ones. */
  readonly contracts: ReadonlySet<Address>
}

/** Why an address loses on this chain. */
export const lossOnChain = (address: Address, { assets, chain, contracts }: RecipientChain): string | undefined => {
  if (tokensOf(chain, assets).includes(address)) return "is the contract of a token"
  return contracts.has(address) || namedContracts(chain).includes(address)
    ? "is a contract that this service works with"
    : undefined
}
