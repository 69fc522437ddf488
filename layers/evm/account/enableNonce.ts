/** The nonce at which an account accepts the owner's next `Enable` message. Source: Kernel 0.3.1 validation manager. */
import { Effect } from "effect"
import { decodeFunctionResult, encodeFunctionData } from "viem"
import { chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import { VerifierUnavailable } from "#domain/errors/Errors.ts"
import { nonceOfFreshAccount } from "#layers/evm/account/enableMessage.ts"
import { addressOf, toViem } from "#layers/evm/address.ts"
import { kernelAbi } from "#layers/evm/contracts.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"

/** The nonce could not be read. */
export const nonceUnknown = (accountId: AccountId) =>
  new VerifierUnavailable({
    message: `The account on chain ${chainIdOf(accountId)} cannot be read right now; nothing was stored, retry in a few seconds`
  })

export const readEnableNonce = Effect.fnUntraced(
  function* (accountId: AccountId) {
    const data = encodeFunctionData({ abi: kernelAbi, functionName: "currentNonce" })
    const [answer] = yield* multicall(chainIdOf(accountId), [{ target: toViem(addressOf(accountId)), data }])
    // An account without code answers with nothing at all; it will begin at its first nonce.
    if (answer?.success === true && answer.data === "0x") return nonceOfFreshAccount
    return yield* Effect.try(() =>
      decodeFunctionResult({ abi: kernelAbi, functionName: "currentNonce", data: answer!.data })
    )
  },
  (effect, accountId) => Effect.mapError(effect, () => nonceUnknown(accountId))
)
