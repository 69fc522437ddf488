/** Routes of a swap on one chain as LI.FI would describe them, over the pools that only routes reach. */
import { Effect } from "effect"
import { type Address, encodeFunctionData, type Hex, keccak256, parseAbi, toHex } from "viem"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Token } from "#sandbox/assets/catalog.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { lifiToken, usdOf } from "#sandbox/lifi/quote.ts"
import { quoteRoutePools, routePoolsAbi } from "#sandbox/chain/routePools.ts"

const diamondAbi = parseAbi([
  "struct SwapData { address callTo; address approveTo; address sendingAssetId; address receivingAssetId; uint256 fromAmount; bytes callData; bool requiresDeposit; }",
  "function swapTokensSingleV3ERC20ToERC20(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData swapData)",
  "function swapTokensMultipleV3ERC20ToERC20(bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut, SwapData[] swapData)"
])

export interface SwapWanted {
  readonly chain: Chain
  readonly sell: Token
  readonly buy: Token
  readonly amount: bigint
  readonly fromAddress: Address
  readonly toAddress: Address
  /** Fraction. */
  readonly slippage: number
}

interface Hop {
  readonly sell: Token
  readonly buy: Token
  readonly amount: bigint
  readonly bought: bigint
}

/** Gas of one hop and what a unit costs, for the estimate alone. */
const hopGas = 180_000n
const gasPriceWei = 10_000_000n

const follow = Effect.fnUntraced(function* (chain: Chain, path: ReadonlyArray<Token>, amount: bigint) {
  const hops: Array<Hop> = []
  let left = amount
  for (const [index, sell] of path.slice(0, -1).entries()) {
    const buy = path[index + 1]!
    const bought = yield* quoteRoutePools(chain, { sell, buy, amount: left })
    hops.push({ sell, buy, amount: left, bought })
    left = bought
  }
  return hops
})

const callOf = (
  { chain, toAddress }: SwapWanted,
  hops: ReadonlyArray<Hop>,
  { id, minRaw }: { readonly id: string; readonly minRaw: bigint }
): Hex => {
  const { diamond, routePools } = chain.contracts
  const swapData = hops.map(({ amount, buy, sell }, index) => ({
    callTo: routePools,
    approveTo: routePools,
    sendingAssetId: sell.address,
    receivingAssetId: buy.address,
    fromAmount: amount,
    callData: encodeFunctionData({
      abi: routePoolsAbi,
      functionName: "swap",
      args: [sell.address, buy.address, amount, diamond]
    }),
    requiresDeposit: index === 0
  }))
  const head = [keccak256(toHex(id)), "ballast", "", toAddress, minRaw] as const
  const [first, ...others] = swapData
  return others.length === 0
    ? encodeFunctionData({ abi: diamondAbi, functionName: "swapTokensSingleV3ERC20ToERC20", args: [...head, first!] })
    : encodeFunctionData({
        abi: diamondAbi,
        functionName: "swapTokensMultipleV3ERC20ToERC20",
        args: [...head, swapData]
      })
}

const describe = (wanted: SwapWanted, tool: string, hops: ReadonlyArray<Hop>) => {
  const { amount, buy, chain, fromAddress, sell, slippage, toAddress } = wanted
  const bought = hops.at(-1)!.bought
  const least = (bought * (10_000n - BigInt(Math.round(slippage * 10_000)))) / 10_000n
  const id = `${tool}-${chain.chainId}-${sell.symbol}-${buy.symbol}-${amount}`
  const named = { tool, toolDetails: { key: tool, name: tool, logoURI: "" } }
  const action = {
    fromChainId: chain.chainId,
    toChainId: chain.chainId,
    fromToken: lifiToken(chain, sell),
    toToken: lifiToken(chain, buy),
    fromAmount: amount.toString(),
    slippage,
    fromAddress,
    toAddress
  }
  const gas = hopGas * BigInt(hops.length)
  const gasWei = gas * gasPriceWei
  const { weth } = chain.catalog
  const estimate = {
    tool,
    approvalAddress: chain.contracts.diamond,
    fromAmount: amount.toString(),
    toAmount: bought.toString(),
    toAmountMin: least.toString(),
    fromAmountUSD: usdOf(chain, sell, amount),
    toAmountUSD: usdOf(chain, buy, bought),
    executionDuration: 0,
    feeCosts: [],
    gasCosts: [
      {
        type: "SEND",
        price: gasPriceWei.toString(),
        estimate: gas.toString(),
        limit: ((gas * 5n) / 4n).toString(),
        amount: gasWei.toString(),
        amountUSD: Decimal.format((gasWei * chain.prices.price(weth.assetId)) / Decimal.one, 6),
        token: { ...lifiToken(chain, weth), address: "0x0000000000000000000000000000000000000000", symbol: "ETH" }
      }
    ]
  }
  return {
    id,
    type: "lifi",
    ...named,
    action,
    estimate,
    includedSteps: hops.map((hop, index) => ({
      id: `${id}:${index}`,
      type: "swap",
      ...named,
      action: { ...action, fromToken: lifiToken(chain, hop.sell), toToken: lifiToken(chain, hop.buy) },
      estimate
    })),
    transactionRequest: {
      from: fromAddress,
      to: chain.contracts.diamond,
      chainId: chain.chainId,
      data: callOf(wanted, hops, { id, minRaw: least }),
      value: "0x0",
      gasLimit: toHex((gas * 5n) / 4n)
    }
  }
}

/** A step for each way: straight, and through the chain's hub where that is another token. */
export const swapSteps = Effect.fnUntraced(function* (wanted: SwapWanted) {
  const { amount, buy, chain, sell } = wanted
  const { usdc, weth } = chain.catalog
  const hub = [usdc, weth].find((token) => token !== sell && token !== buy)
  const straight = describe(wanted, "pools", yield* follow(chain, [sell, buy], amount))
  if (hub === undefined) return [straight]
  return [straight, describe(wanted, "pools-hub", yield* follow(chain, [sell, hub, buy], amount))]
})

export type SwapStep = ReturnType<typeof describe>
