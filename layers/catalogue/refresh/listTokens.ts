/** Tokens of a list in the token-list format, of the chains that the catalogue has. */
import { Option, Schema } from "effect"
import { solanaReference } from "#domain/values/Caip.ts"
import type { SourceToken, SourceRead } from "#layers/catalogue/refresh/SourceRead.ts"
import { tokenId } from "#layers/catalogue/TokenFile.ts"
import { readItems } from "#layers/market/readItems.ts"

/** Solana's number in Uniswap's list. */
export const uniswapSolana = 501000101

const Row = Schema.Struct({
  chainId: Schema.Int,
  address: Schema.NonEmptyString,
  symbol: Schema.String.check(Schema.isBetweenLength(1, 40)),
  decimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 36 }))
})

const isOnChain = Schema.is(Schema.Struct({ chainId: Schema.Int }))
/** The chain of a number as lists have it. */
const chainOf = (listed: number) => (listed === uniswapSolana ? `solana:${solanaReference}` : `eip155:${listed}`)

/**
 * The canonical address, or undefined for none. Lists are generated, and some of real issuers have wrong checksums: the
 * case of an address means nothing there.
 */
export const canonicalAddress = (chain: string, address: string): string | undefined =>
  Option.getOrUndefined(
    Option.map(tokenId(chain, chain.startsWith("eip155:") ? address.toLowerCase() : address), (id) =>
      id.slice(id.lastIndexOf(":") + 1)
    )
  )

/** `tickerOf` reads the share out of a symbol; null where the list is not one of shares. */
export const listTokens = (
  rows: ReadonlyArray<unknown>,
  chains: ReadonlySet<string>,
  tickerOf: (symbol: string, chain: string) => string | null
): Omit<SourceRead, "what"> => {
  let malformed = 0
  // Faults in rows of other chains do not matter for ours.
  const ours = rows.filter((row) => !isOnChain(row) || chains.has(chainOf(row.chainId)))
  const { items, problems } = readItems(
    Row,
    ours,
    ({ address, chainId, decimals, symbol }): SourceToken | undefined => {
      const chain = chainOf(chainId)
      const canonical = canonicalAddress(chain, address)
      if (canonical === undefined) {
        malformed += 1
        return undefined
      }
      return { chain, address: canonical, symbol, decimals, ticker: tickerOf(symbol, chain) }
    }
  )
  return { tokens: items, unreadable: problems.length + malformed }
}
