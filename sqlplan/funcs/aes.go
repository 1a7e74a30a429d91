package funcs

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"strconv"
	"strings"
)

var aesFunctions = []*Function{
	define("aes_encrypt", "misc", "aes_encrypt(expr, key[, mode[, padding[, iv[, aad]]]])", "The value encrypted with AES: GCM by default, also CBC and ECB.", signature{
		params: []param{pBinary, pBinary, pString, pString, pBinary, pBinary}, min: 2, result: tBinary, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) { aesKernel(c, args, out, "aes_encrypt", aesEncrypt) },
	}).example("SELECT hex(aes_encrypt('abc', '0123456789abcdef', 'ECB', 'PKCS'))", "1D25821C3E311EEA2D4DD8633A25C1B5").volatility(Volatile).
		printed(withDefaults("aes_encrypt", "", "", "GCM", "DEFAULT", "", "")),
	define("aes_decrypt", "misc", "aes_decrypt(expr, key[, mode[, padding[, aad]]])", "What aes_encrypt encrypted.", signature{
		params: []param{pBinary, pBinary, pString, pString, pBinary}, min: 2, result: tBinary, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) { aesKernel(c, args, out, "aes_decrypt", aesDecrypt) },
	}).example("SELECT CAST(aes_decrypt(unhex('1D25821C3E311EEA2D4DD8633A25C1B5'), '0123456789abcdef', 'ECB') AS STRING)", "abc").
		printed(withDefaults("aes_decrypt", "", "", "GCM", "DEFAULT", "")),
	define("try_aes_decrypt", "misc", "try_aes_decrypt(expr, key[, mode[, padding[, aad]]])", "aes_decrypt that gives NULL where it fails.", signature{
		params: []param{pBinary, pBinary, pString, pString, pBinary}, min: 2, result: tBinary, try: true,
		kernel: func(c *Ctx, args []*vector, out *vector) { aesKernel(c, args, out, "aes_decrypt", aesDecrypt) },
	}).example("SELECT try_aes_decrypt(unhex('00'), '0123456789abcdef')", "NULL").
		printed(withDefaults("try_aes_decrypt", "", "", "GCM", "DEFAULT", "")),
}

// withDefaults prints a call with the defaults of the arguments left out.
func withDefaults(name string, defaults ...string) func([]string) string {
	return func(a []string) string {
		return name + "(" + joinTexts(append(a[:len(a):len(a)], defaults[len(a):]...)) + ")"
	}
}

// aesCall is one value to encrypt or decrypt.
type aesCall struct {
	name          string
	mode, padding string
	iv, aad       []byte
}

// aesState is the scratch: the cipher of the last key.
type aesState struct {
	key   []byte
	block cipher.Block
	buf   []byte
}

func aesKernel(c *Ctx, args []*vector, out *vector, name string, run func(b []byte, st *aesState, call *aesCall, in []byte) ([]byte, *Error)) {
	st, ok := c.Scratch.(*aesState)
	if !ok {
		st = &aesState{}
		c.Scratch = st
	}
	call := aesCall{name: name, mode: "GCM", padding: "DEFAULT"}
	c.appendRows(out, func(i int, b []byte) []byte {
		if len(args) > 2 {
			call.mode = string(args[2].Str(i))
		}
		if len(args) > 3 {
			call.padding = string(args[3].Str(i))
		}
		rest := args[min(4, len(args)):]
		if name == "aes_encrypt" && len(rest) > 0 {
			call.iv, rest = rest[0].Str(i), rest[1:]
		}
		if len(rest) > 0 {
			call.aad = rest[0].Str(i)
		}
		err := st.load(args[1].Str(i), name)
		if err == nil {
			err = call.check()
		}
		if err == nil {
			start := len(b)
			if b, err = run(b, st, &call, args[0].Str(i)); err != nil {
				b = b[:start]
			}
		}
		if err != nil {
			c.Fail(out, i, err)
		}
		return b
	})
}

func (st *aesState) load(key []byte, name string) *Error {
	if st.block != nil && bytes.Equal(st.key, key) {
		return nil
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return errParam("AES_KEY_LENGTH", "key", name, "expects a binary value with 16, 24 or 32 bytes, but got "+strconv.Itoa(len(key))+" bytes.",
			map[string]string{"actualLength": strconv.Itoa(len(key))})
	}
	st.key, st.block = append(st.key[:0], key...), block
	return nil
}

// check brings mode and padding into their usual form.
func (a *aesCall) check() *Error {
	mode, padding := strings.ToUpper(a.mode), strings.ToUpper(a.padding)
	switch {
	case mode == "GCM" && (padding == "DEFAULT" || padding == "NONE"),
		(mode == "CBC" || mode == "ECB") && (padding == "DEFAULT" || padding == "PKCS"):
	default:
		return NewError("UNSUPPORTED_FEATURE.AES_MODE", "The feature is not supported: AES-`"+a.mode+"` with the padding `"+a.padding+"` by the `"+a.name+"` function.",
			map[string]string{"mode": a.mode, "padding": a.padding, "functionName": "`" + a.name + "`"})
	}
	a.mode, a.padding = mode, padding
	if len(a.iv) > 0 && mode == "ECB" {
		return NewError("UNSUPPORTED_FEATURE.AES_MODE_IV", "The feature is not supported: `"+a.name+"` with AES-`ECB` does not support initialization vectors (IVs).",
			map[string]string{"mode": mode, "functionName": "`" + a.name + "`"})
	}
	if len(a.aad) > 0 && mode != "GCM" {
		return NewError("UNSUPPORTED_FEATURE.AES_MODE_AAD", "The feature is not supported: `"+a.name+"` with AES-`"+mode+"` does not support additional authenticate data (AAD).",
			map[string]string{"mode": mode, "functionName": "`" + a.name + "`"})
	}
	if n := a.ivSize(); len(a.iv) > 0 && len(a.iv) != n {
		return errParam("AES_IV_LENGTH", "iv", a.name, "supports "+strconv.Itoa(n)+"-byte initialization vectors for AES-`"+mode+"`, but got "+strconv.Itoa(len(a.iv))+" bytes.",
			map[string]string{"mode": mode, "actualLength": strconv.Itoa(len(a.iv))})
	}
	return nil
}

func (a *aesCall) ivSize() int {
	switch a.mode {
	case "GCM":
		return 12
	case "CBC":
		return aes.BlockSize
	}
	return 0
}

func errCrypto(name, detail string) *Error {
	return errParam("AES_CRYPTO_ERROR", "expr, key", name, "detail message: "+detail, map[string]string{"detailMessage": detail})
}

func aesEncrypt(b []byte, st *aesState, a *aesCall, in []byte) ([]byte, *Error) {
	start := len(b)
	if len(a.iv) > 0 {
		b = append(b, a.iv...)
	} else if n := a.ivSize(); n > 0 {
		b = append(b, make([]byte, n)...)
		rand.Read(b[start:]) // never fails
	}
	iv := b[start:]
	if a.mode == "GCM" {
		gcm, err := cipher.NewGCM(st.block)
		if err != nil {
			return b, errCrypto(a.name, err.Error())
		}
		st.buf = gcm.Seal(st.buf[:0], iv, in, a.aad)
		return append(b, st.buf...), nil
	}
	pad := aes.BlockSize - len(in)%aes.BlockSize
	body := len(b)
	b = append(b, in...)
	for range pad {
		b = append(b, byte(pad))
	}
	if a.mode == "CBC" {
		cipher.NewCBCEncrypter(st.block, b[start:body]).CryptBlocks(b[body:], b[body:])
		return b, nil
	}
	for k := body; k < len(b); k += aes.BlockSize {
		st.block.Encrypt(b[k:], b[k:])
	}
	return b, nil
}

func aesDecrypt(b []byte, st *aesState, a *aesCall, in []byte) ([]byte, *Error) {
	n := a.ivSize()
	if len(in) < n {
		return b, errCrypto(a.name, "the input is too short")
	}
	iv, in := in[:n], in[n:]
	if a.mode == "GCM" {
		gcm, err := cipher.NewGCM(st.block)
		if err == nil {
			st.buf, err = gcm.Open(st.buf[:0], iv, in, a.aad)
		}
		if err != nil {
			return b, errCrypto(a.name, "Tag mismatch")
		}
		return append(b, st.buf...), nil
	}
	if len(in) == 0 || len(in)%aes.BlockSize != 0 {
		return b, errCrypto(a.name, "Input length must be multiple of 16 when decrypting with padded cipher")
	}
	body := len(b)
	b = append(b, in...)
	if a.mode == "CBC" {
		cipher.NewCBCDecrypter(st.block, iv).CryptBlocks(b[body:], b[body:])
	} else {
		for k := body; k < len(b); k += aes.BlockSize {
			st.block.Decrypt(b[k:], b[k:])
		}
	}
	pad := int(b[len(b)-1])
	if pad == 0 || pad > aes.BlockSize || !bytes.Equal(b[len(b)-pad:], bytes.Repeat([]byte{byte(pad)}, pad)) {
		return b, errCrypto(a.name, "Given final block not properly padded. Such issues can arise if a bad key is used during decryption.")
	}
	return b[:len(b)-pad], nil
}

// notHere lists functions that run code of a Java machine.
func notHere(name, usage string) *Function {
	return custom(name, "misc", usage, "Calls a method of a Java class, which is not available here.", func(_ *Session, args []Arg) (*Bound, error) {
		return nil, NewError("FEATURE_NOT_AVAILABLE", "The function `"+name+"` needs a Java machine, which is not available here.", nil)
	})
}

// refused lists a function of a thing that does not exist here.
func refused(name, group, usage, thing string) *Function {
	return custom(name, group, usage, "Needs "+thing+", which are not available here.", func(*Session, []Arg) (*Bound, error) {
		return nil, NewError("FEATURE_NOT_AVAILABLE", "The function `"+name+"` needs "+thing+", which are not available.", nil)
	})
}

var javaFunctions = []*Function{
	refused("measure", "misc", "measure(expr)", "metric views"),
	refused("timestamp_nanos", "datetime", "timestamp_nanos(expr)", "timestamps with nanoseconds"),
	refused("unix_nanos", "datetime", "unix_nanos(expr)", "timestamps with nanoseconds"),
	notHere("reflect", "reflect(class, method[, arg1[, arg2 ..]])"), notHere("java_method", "java_method(class, method[, arg1[, arg2 ..]])"),
	notHere("try_reflect", "try_reflect(class, method[, arg1[, arg2 ..]])"),
}
