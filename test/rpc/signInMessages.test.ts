/** Which texts and signatures sign a wallet in, and what is said of others. Source: ERC-4361. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { parseSignature, serializeCompactSignature, signatureToCompactSignature } from "viem"
import { SignInRefused } from "#domain/errors/Errors.ts"
import { assertError, makeSignInApi, newWallet, SignInApi } from "#test/rpc/support/SignInApi.ts"

/** Breaks the checksum of an address: another letter's case is wrong. */
const swapCase = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())

const hour = 3_600_000

layer(makeSignInApi(), { excludeTestServices: true })("a sign-in", (it) => {
  it.effect("refuses every text that is not the message to the last character", () =>
    Effect.gen(function* () {
      const { call, messageOf } = yield* SignInApi
      const wallet = newWallet()
      const message = yield* messageOf(wallet)
      const changed = [
        `${message}\n`,
        ` ${message}`,
        message.replace("Version: 1", "Version: 2"),
        message.replace("Version: 1\n", ""),
        message.replace(wallet.address, wallet.address.replace(/[a-fA-F]/u, swapCase)),
        message.replace("Chain ID: 1", "Chain ID: 01"),
        message.replace(/Issued At: .*/u, "Issued At: now"),
        `${message}\nChain ID: 8453`,
        message.replace("\n\n\n", "\n\n"),
        "hello"
      ]
      for (const text of changed) {
        assert.notStrictEqual(text, message)
        const signature = yield* Effect.promise(() => wallet.signMessage({ message: text }))
        assertError(yield* call("identity.signIn", { message: text, signature }), SignInRefused)
      }
      const whole = message.replace(/(Issued At: .*)\.\d{3}Z/u, "$1Z")
      const signature = yield* Effect.promise(() => wallet.signMessage({ message: whole }))
      assert.strictEqual((yield* call("identity.signIn", { message: whole, signature })).status, 200)
    })
  )

  it.effect("takes an address without a checksum: all in lower case, or all in upper case", () =>
    Effect.gen(function* () {
      const { call, messageOf } = yield* SignInApi
      const wallet = newWallet()
      for (const spelled of [wallet.address.toLowerCase(), `0x${wallet.address.slice(2).toUpperCase()}`]) {
        const message = (yield* messageOf(wallet)).replace(wallet.address, spelled)
        const signature = yield* Effect.promise(() => wallet.signMessage({ message }))
        const answer = yield* call("identity.signIn", { message, signature })
        assert.strictEqual(answer.data?.walletId, `eip155:0:${wallet.address}`, JSON.stringify(answer.error))
      }
    })
  )

  it.effect("says of a text that is no message in which line, and what was expected there", () =>
    Effect.gen(function* () {
      const { call, messageOf } = yield* SignInApi
      const wallet = newWallet()
      const message = yield* messageOf(wallet)
      for (const [text, detail] of [
        ["hello", "message: line 1: expected the domain and"],
        [message.replace(wallet.address, "0x12"), "message: line 2: expected an EVM address"],
        [message.replace("\n\n\nURI", "\n\nURI"), "message: line 4: expected a second empty line"],
        [message.replace("\n\n\nURI", "\n\n\n\nURI"), 'message: line 5: expected "URI: "'],
        [message.replace("Version: 1\n", ""), 'message: line 6: expected "Version: " and 1'],
        [
          message.replace("Chain ID: 1", "Chain ID: 0x1"),
          'message: line 7: expected "Chain ID: " and a decimal number'
        ],
        [message.replace(/Nonce: .*/u, "Nonce: x"), 'message: line 8: expected "Nonce: "'],
        [message.replace(/Issued At: .*/u, "Issued At: now"), 'message: line 9: expected "Issued At: " and a time'],
        [`${message}\n`, "message: line 10: expected the end of the message, without a line break"],
        [`${message}\nResources:\nhttps://x.test`, "message: line 11: expected the end of the message"],
        [message.replaceAll("\n", "\r\n"), "message: expected lines that end with a line feed alone"]
      ] as const) {
        assert.notStrictEqual(text, message)
        const signature = yield* Effect.promise(() => wallet.signMessage({ message: text }))
        assertError(yield* call("identity.signIn", { message: text, signature }), SignInRefused, detail)
      }
    })
  )

  it.effect("says how a signature is sent: with 0x, and not in the compact form of EIP-2098", () =>
    Effect.gen(function* () {
      const { call, messageOf } = yield* SignInApi
      const wallet = newWallet()
      const message = yield* messageOf(wallet)
      const signature = yield* Effect.promise(() => wallet.signMessage({ message }))
      const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
      for (const [sent, detail] of [
        [signature.slice(2), "signature: expected hex with 0x in front"],
        [signature.slice(0, -1), "signature: expected bytes in hex with 0x"],
        [compact, "signature: 64 bytes are the compact form of EIP-2098"]
      ] as const)
        assertError(yield* call("identity.signIn", { message, signature: sent }), SignInRefused, detail)
    })
  )

  it.effect("names the chain of a contract whose chain is not served, and the chains that are", () =>
    Effect.gen(function* () {
      const { signIn } = yield* SignInApi
      const wallet = newWallet()
      const byContract = { ...wallet, signMessage: async () => `0x${"11".repeat(300)}` as const }
      assertError(
        yield* signIn(byContract),
        SignInRefused,
        `signature: does not recover to ${wallet.address}; contracts sign in on chain 8453, and the message names chain 1`
      )
    })
  )

  it.effect("takes what other makers of messages write: statements, requests, resources, times of any precision", () =>
    Effect.gen(function* () {
      const { call, messageOf } = yield* SignInApi
      const wallet = newWallet()
      const plain = yield* messageOf(wallet)
      const issued = /Issued At: (.*)$/u.exec(plain)![1]!
      const inBerlin = `${new Date(Date.parse(issued) + hour).toISOString().slice(0, -1)}+01:00`
      for (const change of [
        (text: string) => text.replace("\n\n\nURI", "\n\nSign in, with \u00fcml\u00e4uts: https://x.test\n\nURI"),
        (text: string) => text.replace("\n\n\nURI", "\n\nURI: https://x.test\n\nURI"),
        (text: string) => text.replace(/\.\d{3}Z$/u, "Z"),
        (text: string) => text.replace(/Z$/u, "456Z"),
        (text: string) => text.replace(/Issued At: .*$/u, `Issued At: ${inBerlin}`),
        (text: string) => `${text}\nRequest ID: abc-1`,
        (text: string) => `${text}\nResources:`,
        (text: string) => `${text}\nRequest ID: \nResources:\n- https://x.test/a\n- ipfs://bafy/b`,
        (text: string) => `https://${text}`
      ]) {
        const message = change(yield* messageOf(wallet))
        const signature = yield* Effect.promise(() => wallet.signMessage({ message }))
        const answer = yield* call("identity.signIn", { message, signature })
        assert.strictEqual(answer.status, 200, `${message}\n${JSON.stringify(answer.error)}`)
      }
    })
  )

  it.effect("refuses the signature of another key, of other words, and what is none", () =>
    Effect.gen(function* () {
      const { call, messageOf } = yield* SignInApi
      const wallet = newWallet()
      const message = yield* messageOf(wallet)
      const ofAnother = yield* Effect.promise(() => newWallet().signMessage({ message }))
      const ofOther = yield* Effect.promise(() => wallet.signMessage({ message: `${message}.` }))
      for (const signature of [ofAnother, ofOther, "0x", "0x12", "hello", `0x${"00".repeat(65)}`])
        assertError(yield* call("identity.signIn", { message, signature }), SignInRefused, "signature:")
      const signature = yield* Effect.promise(() => wallet.signMessage({ message }))
      assert.strictEqual((yield* call("identity.signIn", { message, signature })).status, 200)
    })
  )
})
