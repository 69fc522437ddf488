/** A step as LI.FI would quote it, over the vault between the world's chains. */
import { encodeFunctionData } from "viem"
import * as Decimal from "#domain/values/Decimal.ts"
import { afterBridgeFee, bridgeFeeBps, bridgeVaultAbi } from "#sandbox/chain/bridgeVault.ts"
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
  /** Fraction. */
  readonly slippage: number
}

export const usdOf = (chain: Chain, token: Token, amount: bigint) =>
  Decimal.format((amount * chain.prices.price(token.assetId)) / 10n ** BigInt(token.decimals), 4)

export const quoteStep = ({ amount, buy, from, fromAddress, sell, slippage, to, toAddress }: Transfer) => {
  const toAmount = (afterBridgeFee(amount) * 10n ** BigInt(buy.decimals)) / 10n ** BigInt(sell.decimals)
  const toAmountMin = (toAmount * (10_000n - BigInt(Math.round(slippage * 10_000)))) / 10_000n
  const id = `${from.chainId}-${to.chainId}-${amount}`
  const tool = { tool: "vault", toolDetails: { key: "vault", name: "Vault", logoURI: "" } }
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
    tool: "vault",
    approvalAddress: from.contracts.bridge,
    fromAmount: amount.toString(),
    toAmount: toAmount.toString(),
    toAmountMin: toAmountMin.toString(),
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
  const data = encodeFunctionData({
    abi: bridgeVaultAbi,
    functionName: "lock",
    args: [sell.address, amount, BigInt(to.chainId), buy.address, toAmountMin, toAddress]
  })
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
