/** What an operation did as v2 shows it. */
import { formatUsd } from "#domain/values/Decimal.ts"
import type { ChainResult, OperationResult } from "#domain/operation/OperationResult.ts"

const textOrNull = (amount: bigint | null) => (amount === null ? null : amount.toString())
const usdOrNull = (amount: bigint | null) => (amount === null ? null : formatUsd(amount))

const chainView = ({ chainId, failure, skips, swaps, transactions, transfers }: ChainResult) => ({
  chainId,
  swaps: swaps.map(({ feeRaw, minOutRaw, receivedRaw, soldRaw, ...swap }) => ({
    ...swap,
    soldRaw: soldRaw.toString(),
    minOutRaw: minOutRaw.toString(),
    receivedRaw: textOrNull(receivedRaw),
    feeRaw: textOrNull(feeRaw)
  })),
  transfers: transfers.map(({ minOutRaw, receivedRaw, sentRaw, ...transfer }) => ({
    ...transfer,
    sentRaw: sentRaw.toString(),
    minOutRaw: minOutRaw.toString(),
    receivedRaw: textOrNull(receivedRaw)
  })),
  transactions: transactions.map(({ gasUsd, gasUsed, ...transaction }) => ({
    ...transaction,
    gasUsed: textOrNull(gasUsed),
    gasUsd: usdOrNull(gasUsd)
  })),
  skips: skips.map(({ valueUsd, ...skip }) => ({ ...skip, valueUsd: usdOrNull(valueUsd) })),
  failure
})

export const operationResultView = ({ chains, gasUsd, tradingUsd }: OperationResult) => ({
  chains: chains.map(chainView),
  gasUsd: usdOrNull(gasUsd),
  tradingUsd: usdOrNull(tradingUsd)
})
