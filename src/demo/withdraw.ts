/** The end of the journey: the owner takes one asset out, by a signature that the chain itself checks. */
import { Effect } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import { type AssetId, chainIdOf, evmAccount, type EvmAddress } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { Ballast } from "#src/demo/Ballast.ts"
import { completed } from "#src/demo/completed.ts"
import { JourneyFailed } from "#src/demo/JourneyFailed.ts"
import { step } from "#src/demo/print.ts"

const chainId = 8453
const symbol = "cbBTC"

const holding = Effect.fnUntraced(function* (portfolioId: PortfolioId) {
  const ballast = yield* Ballast
  const { data } = yield* ballast.portfolios.getPositions({ params: { portfolioId } })
  const found = data.assets.find((row) => row.symbol === symbol && chainIdOf(row.assetId as AssetId) === chainId)
  return found ?? (yield* new JourneyFailed({ message: `The portfolio holds no ${symbol} on ${chainId}` }))
})

export const withdraw = Effect.fnUntraced(function* (portfolioId: PortfolioId, owner: PrivateKeyAccount) {
  const ballast = yield* Ballast
  const params = { portfolioId }
  const { assetId, balance, balanceRaw } = yield* holding(portfolioId)
  const { data: issued } = yield* step(
    `Stage 1: all ${symbol} on ${chainId}, to the owner`,
    ballast.withdrawals.prepareWithdrawal({
      params,
      payload: {
        recipientAccountId: evmAccount(chainId as never, owner.address as string as EvmAddress),
        assets: [{ assetId: assetId as AssetId, amountRaw: balanceRaw }]
      }
    }),
    ({ data }) => `until ${data.expiresAt}`
  )
  if (!("typedData" in issued)) return yield* new JourneyFailed({ message: "Stage 1 issued no typed data" })
  const { typedData } = issued
  const signature = yield* Effect.promise(() => owner.signTypedData(typedData as never))
  yield* step(
    "Stage 2: the chain checks the owner's signature",
    Effect.flatMap(
      ballast.withdrawals.withdraw({ params, payload: { message: typedData.message as never, signature } }),
      ({ data }) => completed(data.operationId as OperationId)
    ),
    () => `${balance} ${symbol}`
  )
})
