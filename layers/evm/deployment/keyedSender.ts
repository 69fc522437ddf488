/** Sends a deployment's transactions with a private key. */
import { Duration, Effect, Redacted, Schedule } from "effect"
import { BaseError, createWalletClient, type Hex, type PublicClient, type Transport } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { DeploymentSender } from "#layers/evm/deployment/applyDeployment.ts"
import { DeploymentRefused } from "#layers/evm/deployment/DeploymentRefused.ts"
import { ask } from "#layers/evm/deployment/DeploymentTarget.ts"
import type { DeploymentStep } from "#layers/evm/deployment/planDeployment.ts"

/** How long a transaction may take to be in a block, and how often that is asked. */
const includedWithin = Duration.minutes(10)
const pollInterval = Duration.millis(250)

/** Percent of the estimate that a transaction may use. */
const gasMarginPercent = 120n

const reasonOf = (cause: unknown) => (cause instanceof BaseError ? cause.shortMessage : String(cause))

/**
 * A sender whose transactions all have landed: what an earlier run sent and did not see included is waited for, since a
 * plan that does not know of it would send it twice.
 */
export const keyedSender = Effect.fnUntraced(function* (
  key: Redacted.Redacted,
  client: PublicClient,
  transport: Transport
): Effect.fn.Return<DeploymentSender, DeploymentRefused> {
  const account = privateKeyToAccount(Redacted.value(key) as Hex)
  const wallet = createWalletClient({ account, transport })
  const { address } = account
  const counted = (blockTag: "latest" | "pending") =>
    ask("for the deployer's transactions", () => client.getTransactionCount({ address, blockTag }))
  const pending = yield* counted("pending")
  yield* Effect.repeat(counted("latest"), {
    schedule: Schedule.spaced(pollInterval),
    until: (included) => included >= pending
  }).pipe(
    Effect.timeoutOrElse({
      duration: includedWithin,
      orElse: () =>
        Effect.fail(
          new DeploymentRefused({
            reasons: [
              `${address} has a transaction that is in no block for ${Duration.format(includedWithin)}; replace it with the account's wallet, and run the command again`
            ]
          })
        )
    })
  )
  const send = Effect.fn("keyedSender.send")(function* ({ data, to, words }: DeploymentStep) {
    const receipt = yield* Effect.tryPromise({
      try: async () => {
        const estimate = await client.estimateGas({ account: address, to, data })
        const hash = await wallet.sendTransaction({
          chain: null,
          to,
          data,
          gas: (estimate * gasMarginPercent) / 100n
        })
        return await client.waitForTransactionReceipt({
          hash,
          timeout: Duration.toMillis(includedWithin),
          pollingInterval: Duration.toMillis(pollInterval)
        })
      },
      catch: (cause) =>
        new DeploymentRefused({
          reasons: [
            `The chain refused to ${words}: ${reasonOf(cause)}. What was done stays done: run the command again`
          ]
        })
    })
    if (receipt.status !== "success")
      return yield* new DeploymentRefused({ reasons: [`${receipt.transactionHash} reverted: ${words}`] })
  })
  return { address, send }
})
