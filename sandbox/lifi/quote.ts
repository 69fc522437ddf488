/** A step as LI.FI would quote it, over the bridge between the world's chains. */
import * as Decimal from "#domain/values/Decimal.ts"
import { afterBridgeFee, bridgeFeeBps, quotedDeposit } from "#sandbox/chain/spokePool.ts"
import type { Token } from "#sandbox/assets/catalog.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"

export const lifiToken = (chain: Chain, { address, decimals, name, symbol, assetId }: Token) => ({
  chainId: chain.chainId,
  address,
  symbol,
  decimals,
  name,
  priceUSD: Decimal.format(chain.prices.price(assetId), 6)
})

export interface Transfer {
  readonly from: Chain
  readonly to: Chain
  readonly sell: Token
  readonly buy: Token
  readonly amount: bigint
  readonly fromAddress: `0x${string}`
  readonly toAddress: `0x${string}`
  /** Fraction; a bridge that pays exactly what was asked for has none. */
  readonly slippage: number
  /** Time of the quote by the source chain's clock, in seconds since 1970. */
  readonly quotedAt: number
}

/** LI.FI's name of the bridge. */
export const bridgeTool = "vault"

export const usdOf = (chain: Chain, token: Token, amount: bigint) =>
  Decimal.format((amount * chain.prices.price(token.assetId)) / 10n ** BigInt(token.decimals), 4)

export const quoteStep = ({ amount, buy, from, fromAddress, quotedAt, sell, slippage, to, toAddress }: Transfer) => {
  const toAmount = (afterBridgeFee(amount) * 10n ** BigInt(buy.decimals)) / 10n ** BigInt(sell.decimals)
  const id = `${from.chainId}-${to.chainId}-${amount}`
  const tool = { tool: bridgeTool, toolDetails: { key: bridgeTool, name: "Vault", logoURI: "" } }
  const action = {
    fromChainId: from.chainId,
    toChainId: to.chainId,
    fromToken: lifiToken(from, sell),
    toToken: lifiToken(to, buy),
    fromAmount: amount.toString(),
    slippage,
    fromAddress,
    toAddress
  }
  const estimate = {
    tool: bridgeTool,
    approvalAddress: from.contracts.bridge,
    fromAmount: amount.toString(),
    toAmount: toAmount.toString(),
    toAmountMin: toAmount.toString(),
    fromAmountUSD: usdOf(from, sell, amount),
    toAmountUSD: usdOf(to, buy, toAmount),
    executionDuration: 2,
    feeCosts: [
      {
        name: "Bridge fee",
        description: "Kept by the vault",
        percentage: (Number(bridgeFeeBps) / 10_000).toString(),
        token: lifiToken(from, sell),
        amount: (amount - afterBridgeFee(amount)).toString(),
        amountUSD: usdOf(from, sell, amount - afterBridgeFee(amount)),
        included: true
      }
    ],
    gasCosts: []
  }
  const order = {
    token: sell.address,
    amount,
    destinationChainId: BigInt(to.chainId),
    destinationToken: buy.address,
    outputAmount: toAmount
  }
  const data = quotedDeposit(order, toAddress, quotedAt)
  return {
    id,
    type: "lifi",
    ...tool,
    action,
    estimate,
    includedSteps: [{ id: `${id}:0`, type: "cross", ...tool, action, estimate }],
    transactionRequest: {
      from: fromAddress,
      to: from.contracts.bridge,
      chainId: from.chainId,
      data,
      value: "0x0",
      gasLimit: "0x7a120"
    }
  }
}

export type QuotedStep = ReturnType<typeof quoteStep>
