/**
 * What a carried out withdrawal leaves behind, as JSON: the transaction, and for each asset what was signed and
 * arrived.
 */
import { chainIdOf, type HeldAssetId } from "#domain/values/Caip.ts"
import { usdcOn } from "#domain/chain/canonicalUsdc.ts"
import type { ActionReceipt } from "#domain/relay/Transaction.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"

/**
 * Each amount is a decimal string of raw units. `shortfallRaw` is above zero when a token took a fee on its way: what
 * was signed left the account, and less arrived. Of a liquidation what arrived is the settlement asset: only chains
 * that have one carry it out.
 */
export const withdrawalOutcome = (
  message: WithdrawalMessage,
  { blockNumber, gasUsed, txHash }: ActionReceipt,
  delivered: ReadonlyArray<{ readonly assetId: HeldAssetId; readonly raw: bigint }>
) => {
  const arrived = (assetId: HeldAssetId) => delivered.find((one) => one.assetId === assetId)?.raw ?? 0n
  const settlement = usdcOn(chainIdOf(message.recipientAccountId))
  return {
    txHash,
    blockNumber: blockNumber.toString(),
    gasUsed: gasUsed.toString(),
    delivered:
      message.liquidate === true && settlement !== undefined
        ? [{ assetId: settlement, amountRaw: arrived(settlement).toString() }]
        : message.assets.map(({ amountRaw, assetId }) => ({
            assetId,
            amountRaw: arrived(assetId).toString(),
            shortfallRaw: (BigInt(amountRaw) - arrived(assetId)).toString()
          }))
  }
}
