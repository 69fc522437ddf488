/**
 * Recipients that can only lose what they receive: there is no key to them, and no code of theirs gives it back.
 * Source: interface "Recipient rules for withdrawals" (API_211); docs/decisions/0080-recipients.md.
 */
import { addressOf, type AssetId, type Address } from "#domain/Caip.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { namedContracts, namedTokens } from "#domain/account/Permission.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"

/**
 * Precompiles of every chain, system contracts of BNB and Arbitrum, and the address that "dead" stands for are below
 * it.
 */
const reserved = 0x1_0000n

/** The OP Stack's own contracts: 0x4200…0000 to 0x4200…07ff. */
const predeploys = 0x4200000000000000000000000000000000000000n
const predeployCount = 0x800n

/** Stands for a chain's own coin in many interfaces, and is no account. */
const coinPlaceholder = 0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeen

/** Why an address can only lose on any chain; undefined when nothing is known against it. */
export const lossAtAddress = (address: Address): string | undefined => {
  if (!address.startsWith("0x")) return undefined
  const value = BigInt(address)
  if (value === 0n) return "is the zero address"
  if (value < reserved || (value >= predeploys && value < predeploys + predeployCount)) {
    return "is an address that the chain reserves for itself"
  }
  return value === coinPlaceholder ? "is the placeholder of the chain's coin" : undefined
}

/** The tokens of the withdrawal, and those that the portfolio trades in on the chain. */
const tokensOf = (
  chain: ChainAuthorization,
  assets: ReadonlyArray<{ readonly assetId: AssetId }>
): ReadonlyArray<Address> => {
  const settlement = usdcOn(chain.chainId)
  return [
    ...assets.map(({ assetId }) => addressOf(assetId)),
    ...namedTokens(chain),
    ...(settlement === undefined ? [] : [addressOf(settlement)])
  ]
}

/** What a recipient on a chain is held against. */
interface RecipientChain {
  readonly chain: ChainAuthorization
  /** What is withdrawn. */
  readonly assets: ReadonlyArray<{ readonly assetId: AssetId }>
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
