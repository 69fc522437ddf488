/** What the client computes of a withdrawal of the native coin, beside what the service does: the same bytes. */
import { assert, describe, it } from "@effect/vitest"
import { connect } from "ballast/client"
import { Altered, verifyNativeWithdrawal, withdraw } from "ballast/signing"
import { Schema } from "effect"
import { type Hex, verifyMessage } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import type { AccountType } from "#domain/account/Authorization.ts"
import type { Grant } from "#domain/account/Grant.ts"
import { ownerMessage } from "#domain/account/OwnerMessage.ts"
import { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { ChainId, type EvmAddress, evmAccount, evmWallet } from "#domain/values/Caip.ts"
import { OperationId } from "#domain/values/Ids.ts"
import { messageNonce, nativeDigest } from "#layers/evm/withdrawal/nativeWithdrawal.ts"

const chainId = ChainId.make(8453)
const account = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const accountId = evmAccount(chainId, account)
const portfolioId = "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8"
const recipientAccountId = "eip155:8453:0x8617E340B3D01FA5F11F306F4090FD50E238070D"
const assets = [{ assetId: "eip155:8453/slip44:60", amountRaw: "25000000000000000000" }]
const message = Schema.decodeUnknownSync(WithdrawalMessage)({
  portfolioId,
  recipientAccountId,
  assets,
  nonce: messageNonce(new Uint8Array(32).fill(7), 3n),
  expiresAt: 1_772_444_400
})
const expected = { portfolioId, recipientAccountId, assets, account: account as string }

const ownerAccountId = evmWallet("0x1111111111111111111111111111111111111111" as EvmAddress)

/** Makes the answer of stage 1. */
const issuedFor = (accountType: AccountType, of: WithdrawalMessage = message) => {
  const authorization: Grant["authorization"] = {
    _tag: "Evm",
    accountType,
    ownerAccountId,
    accountIndex: 0n,
    withdrawalDomainName: "Ballast Withdrawal Authorization",
    agentAccountId: ownerAccountId,
    chains: [
      {
        chainId,
        accountId,
        permissionId: "0x00000001" as never,
        policy: { _tag: "Evm", router: account, connectorTokens: [], tokens: [] },
        digest: `0x${"0d".repeat(32)}` as never
      }
    ],
    root: `0x${"5f".repeat(32)}` as never
  }
  const root = nativeDigest({ accountId, grant: { authorization, ownerSignature: "0x" }, message: of })!
  const signed = ownerMessage({ accountType, ownerAccountId, root, chains: [{ chainId, accountId }] })
  return { accountId: accountId as string, signed, message: of }
}

describe("a withdrawal of the native coin", () => {
  for (const accountType of ["ECDSA", "ERC1271"] as const) {
    it(`is computed and described, of an owner of type ${accountType}`, () =>
      assert.deepStrictEqual(verifyNativeWithdrawal(issuedFor(accountType), expected), [
        `Takes out 25000000000000000000 of eip155:8453/slip44:60 from ${account} on chain 8453.`,
        "All of it goes to 0x8617E340B3D01FA5F11F306F4090FD50E238070D.",
        "The service carries it out once, until 2026-03-02T09:40:00.000Z. The signature itself holds until the account's next withdrawal of the native coin."
      ]))

    it(`is not signed when it is not what was asked for, of an owner of type ${accountType}`, () => {
      const issued = issuedFor(accountType)
      const others = [
        { portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K9" },
        { recipientAccountId: `${recipientAccountId.slice(0, -1)}E` },
        { assets: [{ ...assets[0]!, amountRaw: "1" }] },
        { account: "0x1111111111111111111111111111111111111111" }
      ]
      for (const other of others)
        assert.throws(() => verifyNativeWithdrawal(issued, { ...expected, ...other }), Altered)
      // The message is what was asked for, and what is to be signed is not.
      for (const other of [
        { ...message, expiresAt: message.expiresAt + 1 },
        { ...message, nonce: messageNonce(new Uint8Array(32).fill(7), 4n) },
        { ...message, assets: [{ ...message.assets[0]!, amountRaw: "26000000000000000000" }] }
      ]) {
        const altered = { ...issuedFor(accountType, other), message }
        assert.throws(() => verifyNativeWithdrawal(altered, expected), Altered)
      }
    })
  }

  it("is signed by a wallet as its 32 bytes, and left to owners that are contracts", async () => {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const sent: Array<{ readonly message: unknown; readonly signature: string }> = []
    const serving = (operation: ReturnType<typeof issuedFor>): Parameters<typeof withdraw>[0] => ({
      withdrawals: {
        ...connect({ baseUrl: "http://ballast.test", apiKey: "key" }).withdrawals,
        prepare: async () => ({
          authorizationId: message.nonce,
          expiresAt: "2026-03-02T09:40:00.000Z",
          operation
        }),
        withdraw: async (_, body) => {
          sent.push(body)
          return {
            operationId: OperationId.make("op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1"),
            submittedAt: "2026-03-02T09:30:00.000Z"
          }
        }
      }
    })
    const asked = { portfolioId, recipientAccountId, assets }
    const issued = issuedFor("ECDSA")
    await withdraw(serving(issued), wallet, asked)
    assert.deepStrictEqual(sent[0]!.message, message)
    const raw = issued.signed.kind === "ecdsa" ? (issued.signed.raw as Hex) : "0x"
    assert.isTrue(
      await verifyMessage({ address: wallet.address, message: { raw }, signature: sent[0]!.signature as Hex })
    )
    const refused = await withdraw(serving(issuedFor("ERC1271")), wallet, asked).catch((error) => error)
    assert.instanceOf(refused, Altered)
    assert.lengthOf(sent, 1)
  })
})
