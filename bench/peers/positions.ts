/**
 * The peer's read of positions: the portfolio from the database, what it holds from a memory of 30 seconds keyed by the
 * portfolio's last change, and on a miss from the chains with viem. Transfers between chains and partial failures,
 * which the service names in `warnings`, it does not know.
 */
import type { Pool } from "pg"
import { createPublicClient, erc20Abi, formatUnits, getAddress, http, parseUnits } from "viem"
import { usd } from "#bench/peers/money.ts"
import { readPortfolio } from "#bench/peers/portfolio.ts"

const timeToLiveMillis = 30_000
const maxKept = 10_000
const multicallAddress = "0xcA11bde05977b3631167028862bE2a173976CA11"
const platforms: Readonly<Record<number, string>> = { 8453: "base", 42161: "arbitrum-one" }

interface AssetRow {
  readonly asset_id: string
  readonly symbol: string
  readonly decimals: number
}

const findAssets = "SELECT asset_id, symbol, decimals FROM assets WHERE chain_id = $1 ORDER BY asset_id"

const tokenOf = ({ asset_id }: AssetRow) => getAddress(asset_id.slice(asset_id.indexOf(":0x") + 1))

interface Portfolio {
  readonly portfolioId: string
  readonly smartAccounts: ReadonlyArray<{ readonly accountId: string }>
  readonly updatedAt: string
}

/** `upstream` is the base URL of the chains and of the price source. */
export const makePositions = (pool: Pool, upstream: string) => {
  const kept = new Map<string, { readonly updatedAt: string; readonly until: number; readonly read: Promise<object> }>()

  const pricesOf = async (chainId: number, rows: ReadonlyArray<AssetRow>) => {
    const addresses = rows.map((row) => tokenOf(row).toLowerCase())
    const response = await fetch(
      `${upstream}/simple/token_price/${platforms[chainId]}?contract_addresses=${addresses.join(",")}&vs_currencies=usd&include_last_updated_at=true`
    )
    const prices = (await response.json()) as Readonly<
      Record<string, { readonly usd: number; readonly last_updated_at: number }>
    >
    return addresses.map((address) => {
      const { last_updated_at, usd } = prices[address]!
      return { price: parseUnits(String(usd), 18), priceAsOf: new Date(last_updated_at * 1_000).toISOString() }
    })
  }

  const readAccount = async (accountId: string) => {
    const [, chain, owner] = accountId.split(":")
    const chainId = Number(chain)
    const { rows } = await pool.query<AssetRow>({ name: "find-assets", text: findAssets, values: [chainId] })
    const client = createPublicClient({ transport: http(`${upstream}/${chainId}`) })
    const [balances, prices] = await Promise.all([
      client.multicall({
        allowFailure: false,
        multicallAddress,
        contracts: rows.map((row) => ({
          abi: erc20Abi,
          address: tokenOf(row),
          functionName: "balanceOf" as const,
          args: [getAddress(owner!)] as const
        }))
      }),
      pricesOf(chainId, rows)
    ])
    return rows.flatMap(({ asset_id, decimals, symbol }, index) => {
      const raw = balances[index]!
      const { price, priceAsOf } = prices[index]!
      const value = (raw * price) / 10n ** BigInt(decimals)
      const balance = formatUnits(raw, decimals)
      const row = { assetId: asset_id, smartAccountId: accountId, symbol, decimals, balance, balanceRaw: String(raw) }
      return raw === 0n ? [] : [{ value, view: { ...row, priceUsd: usd(price), priceAsOf, valueUsd: usd(value) } }]
    })
  }

  const readPositions = async ({ portfolioId, smartAccounts }: Portfolio) => {
    const held = (await Promise.all(smartAccounts.map(({ accountId }) => readAccount(accountId)))).flat()
    held.sort((a, b) => (a.value === b.value ? (a.view.assetId < b.view.assetId ? -1 : 1) : a.value > b.value ? -1 : 1))
    return {
      portfolioId,
      totalValueUsd: usd(held.reduce((sum, { value }) => sum + value, 0n)),
      inTransit: { totalUsd: usd(0n), items: [] },
      fetchedAt: new Date(performance.timeOrigin + performance.now()).toISOString(),
      smartAccounts,
      assets: held.map(({ view }) => view),
      warnings: []
    }
  }

  /** Undefined when the tenant has no such portfolio. */
  return async (tenantId: string, portfolioId: string): Promise<object | undefined> => {
    const portfolio = await readPortfolio(pool, tenantId, portfolioId)
    if (portfolio === undefined) return undefined
    const known = kept.get(portfolioId)
    const now = performance.now()
    if (known !== undefined && known.updatedAt === portfolio.updatedAt && known.until > now) return known.read
    if (kept.size >= maxKept) kept.clear()
    const read = readPositions(portfolio)
    kept.set(portfolioId, { updatedAt: portfolio.updatedAt, until: now + timeToLiveMillis, read })
    read.catch(() => kept.delete(portfolioId))
    return read
  }
}
