/** How the two modules are bound to an account's owner, once, and what stays when they are removed. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  type Abi,
  type Address,
  concat,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  type LocalAccount,
  parseEther,
  toHex,
  zeroAddress
} from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { erc1271OwnerValidator, withdrawalExecutor } from "#layers/evm/contracts.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { loadContracts } from "#sandbox/chain/Contracts.ts"
import { type Call, domainOf, newAuthorization, signed, submitCall, verdict } from "#test/solidity/withdrawals.ts"
import {
  chainIdOf,
  enroll,
  EvmWorld,
  EvmWorldLive,
  fund,
  owner,
  relayer,
  stranger,
  withdrawalDomainName
} from "#test/layers/evm/EvmWorld.ts"
import { deployAccount } from "#test/layers/evm/tradingAccount.ts"
import { addressOf } from "#layers/evm/address.ts"

const recipient: Address = "0x52908400098527886E0F7030069857D2E4169EE7"
const nameHash = keccak256(toHex(withdrawalDomainName))

/** The name of the error of a module's call, or "accepted"; nothing is sent. */
const asked = Effect.fnUntraced(function* (
  chain: Chain,
  module: { readonly address: Address; readonly abi: Abi },
  {
    data,
    functionName,
    sender
  }: { readonly sender: Address; readonly functionName: "onInstall" | "onUninstall"; readonly data: Hex }
) {
  return yield* Effect.promise(() =>
    chain.client.simulateContract({ ...module, functionName, args: [data], account: sender }).then(
      () => "accepted",
      (error: { readonly cause?: { readonly data?: { readonly errorName?: string } } }) =>
        error.cause?.data?.errorName ?? "reverted"
    )
  )
})

const modules = Effect.map(loadContracts, ({ own }) => ({
  executor: { address: withdrawalExecutor, abi: own("WithdrawalExecutor").abi },
  validator: { address: erc1271OwnerValidator, abi: own("Erc1271OwnerValidator").abi }
}))

describe("The modules of an account", () => {
  layer(EvmWorldLive, { excludeTestServices: true })((it) => {
    it.effect("take an owner once, and none that is nobody", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { executor, validator } = yield* modules
        const enrollment = yield* enroll(130n, [[base, "USDC"]])
        yield* deployAccount(base, enrollment.authorization)
        const account = enrollment.account as string as Address
        const install = (sender: Address, data: Hex) =>
          asked(base, executor, { sender, functionName: "onInstall", data })
        const whole = concat([owner.address, nameHash])
        assert.strictEqual(yield* install(stranger.address, whole), "accepted")
        assert.strictEqual(yield* install(account, whole), "AlreadyInstalled")
        assert.strictEqual(yield* install(stranger.address, concat([zeroAddress, nameHash])), "InvalidOwner")
        for (const data of ["0x", owner.address, concat([whole, "0x00"])] as const) {
          assert.strictEqual(yield* install(stranger.address, data), "InvalidInstallData")
        }
        const root = (data: Hex) =>
          asked(base, validator, { sender: stranger.address, functionName: "onInstall", data })
        assert.strictEqual(yield* root(owner.address), "accepted")
        assert.strictEqual(yield* root(zeroAddress), "InvalidOwner")
        assert.strictEqual(yield* root("0x1234"), "reverted")
      })
    )

    it.effect("removed, the executor moves nothing; installed anew, it still knows the nonces that were used", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const { executor } = yield* modules
        const enrollment = yield* enroll(131n, [[base, "USDC", "WETH"]])
        yield* deployAccount(base, enrollment.authorization)
        const account = enrollment.account as string as Address
        yield* fund(base, enrollment.account, { symbol: "USDC", raw: 100_000_000n })
        yield* fund(base, enrollment.account, { symbol: "WETH", raw: 100_000n })
        const withdrawal = Effect.fnUntraced(function* () {
          const authorization = yield* newAuthorization(base, recipient)
          const signature = yield* Effect.promise(() => signed(owner, domainOf(base, account, "1"), authorization))
          return { functionName: "withdraw", args: [account, authorization, signature] } satisfies Call
        })
        const [used, unused] = [yield* withdrawal(), yield* withdrawal()]
        assert.strictEqual((yield* submitCall(base, relayer, used)).status, "success")
        const callAs = (functionName: "onInstall" | "onUninstall", data: Hex) =>
          Effect.promise(async () => {
            await base.client.impersonateAccount({ address: account })
            await base.client.setBalance({ address: account, value: parseEther("1") })
            const hash = await base.client.sendTransaction({
              account: { address: account, type: "json-rpc" } as unknown as LocalAccount,
              chain: null,
              to: withdrawalExecutor,
              data: encodeFunctionData({ abi: executor.abi, functionName, args: [data] }),
              gas: 500_000n
            })
            await base.client.waitForTransactionReceipt({ hash })
          })
        yield* callAs("onUninstall", "0x")
        assert.strictEqual(yield* verdict(base, relayer.address, unused), "NotInstalled")
        yield* callAs("onInstall", concat([owner.address, nameHash]))
        assert.strictEqual(yield* verdict(base, relayer.address, unused), "accepted")
        assert.strictEqual(yield* verdict(base, relayer.address, used), "NonceUsed")
      })
    )

    it.effect("a key that contains delegated code (EIP-7702) still signs as itself", () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const accounts = yield* SmartAccounts
        const key = privateKeyToAccount(generatePrivateKey())
        const authorization = yield* accounts.authorize({
          accountType: "ECDSA",
          ownerAccountId: evmWallet(getAddress(key.address) as string as EvmAddress),
          accountIndex: 0n,
          withdrawalDomainName,
          chains: [{ chainId: chainIdOf(base), assets: [] }]
        })
        yield* deployAccount(base, authorization)
        const at = addressOf(authorization.chains[0].accountId)
        const account = at as string as Address
        yield* fund(base, at, { symbol: "USDC", raw: 100_000_000n })
        yield* fund(base, at, { symbol: "WETH", raw: 100_000n })
        yield* Effect.promise(() =>
          base.client.setCode({ address: key.address, bytecode: concat(["0xef0100", base.contracts.weth]) })
        )
        const withdrawal = yield* newAuthorization(base, recipient)
        const attempt = (signer: LocalAccount) =>
          Effect.gen(function* () {
            const signature = yield* Effect.promise(() => signed(signer, domainOf(base, account, "1"), withdrawal))
            return yield* verdict(base, relayer.address, {
              functionName: "withdraw",
              args: [account, withdrawal, signature]
            })
          })
        assert.strictEqual(yield* attempt(key), "accepted")
        assert.strictEqual(yield* attempt(stranger), "NotSignedByOwner")
      })
    )
  })
})
