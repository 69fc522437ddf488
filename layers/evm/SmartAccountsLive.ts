/** Enrollment on Kernel accounts: computed, not asked; a chain first hears of an account with its first operation. */
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { bytesToHex, type Hex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { addressOf, type ChainId, evmAccount, type EvmAddress, evmWallet } from "#domain/Caip.ts"
import type { Authorization } from "#domain/enrollment/Authorization.ts"
import { type AuthorizationRequest, SmartAccounts } from "#domain/enrollment/SmartAccounts.ts"
import { permissionData } from "#layers/evm/account/agentPermission.ts"
import { digestRoot } from "#layers/evm/account/digestTree.ts"
import { enableDigest } from "#layers/evm/account/enableMessage.ts"
import { accountAddress } from "#layers/evm/account/kernelAccount.ts"
import { signerOf } from "#layers/evm/account/ownerSignature.ts"
import { fromViem, toViem } from "#layers/evm/address.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"

const noPermission = "0x00000000"

export const SmartAccountsLive = Layer.effect(
  SmartAccounts,
  Effect.gen(function* () {
    const { chains, agentKey } = yield* EvmConfig
    const random = yield* SecureRandom.SecureRandom
    const configured = new Map(chains.map((chain) => [chain.chainId, chain]))
    const agent = privateKeyToAddress(Redacted.value(agentKey) as Hex)

    /** Kernel keeps ids for ever, even of revoked permissions, and reads all zeros as "none". */
    const drawPermissionId = random
      .randomBytes(4)
      .pipe(Effect.map(bytesToHex), Effect.repeat({ until: (id) => id !== noPermission }))

    const authorizeChain = Effect.fnUntraced(function* (
      account: EvmAddress,
      chainId: ChainId,
      tokens: ReadonlyArray<EvmAddress>
    ) {
      const chain = configured.get(chainId)
      if (chain === undefined) return yield* Effect.die(new Error(`Chain ${chainId} has no EVM configuration`))
      const permissionId = yield* drawPermissionId
      const policy = { router: chain.router, hubs: chain.hubs, tokens }
      return {
        chainId,
        accountId: evmAccount(chainId, account),
        permissionId,
        policy,
        digest: enableDigest(chainId, account, permissionId, permissionData(policy, account, agent))
      }
    })

    const authorize = Effect.fn("SmartAccounts.authorize")(function* (request: AuthorizationRequest) {
      const account = accountAddress(toViem(addressOf(request.ownerAccountId)), request.accountIndex)
      const [first, ...others] = yield* Effect.forEach(request.chains, ({ chainId, tokens }) =>
        authorizeChain(account, chainId, tokens)
      )
      if (first === undefined) return yield* Effect.die(new Error("An authorization needs at least one chain"))
      const authorized = [first, ...others] as const
      const authorization: Authorization = {
        ownerAccountId: request.ownerAccountId,
        accountIndex: request.accountIndex,
        agentAccountId: evmWallet(fromViem(agent)),
        chains: authorized,
        root: digestRoot(authorized.map(({ digest }) => digest))
      }
      return authorization
    })

    const isSignedByOwner = Effect.fn("SmartAccounts.isSignedByOwner")(function* (
      authorization: Authorization,
      signature: string
    ) {
      const signer = yield* Effect.promise(() => signerOf(authorization.root as Hex, signature))
      return signer === addressOf(authorization.ownerAccountId)
    })

    return SmartAccounts.of({ authorize, isSignedByOwner })
  })
)
