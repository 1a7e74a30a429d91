package funcs

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"strings"
)

var hmacFunctions = []*Function{
	define("hmac", "misc", "hmac(key, message[, algorithm])", "Code that shows who wrote a message, made with a key: SHA-256 by default, also MD5, SHA-1, SHA-224, SHA-384 and SHA-512.", signature{
		params: []param{pBinary, pBinary, pString}, min: 2, result: tBinary, canFail: true, kernel: hmacKernel,
	}).example("SELECT hex(hmac('key', 'message', 'MD5'))", "4E4748E62B463521F6775FBF921234B5").printed(withDefaults("hmac", "", "", "SHA-256")),
}

// hmacState is the scratch: the code of the last key and algorithm.
type hmacState struct {
	key       []byte
	algorithm string
	mac       hash.Hash
}

func hmacKernel(c *Ctx, args []*vector, out *vector) {
	st, ok := c.Scratch.(*hmacState)
	if !ok {
		st = &hmacState{}
		c.Scratch = st
	}
	algorithm := []byte("SHA-256")
	c.appendRows(out, func(i int, b []byte) []byte {
		if len(args) > 2 {
			algorithm = args[2].Str(i)
		}
		if err := st.open(args[0].Str(i), algorithm); err != nil {
			c.Fail(out, i, err)
			return b
		}
		st.mac.Reset()
		st.mac.Write(args[1].Str(i)) //nolint:errcheck // a hash takes all
		return st.mac.Sum(b)
	})
}

// open prepares a key, when it is not the one before.
func (st *hmacState) open(key, algorithm []byte) *Error {
	if st.mac != nil && st.algorithm == string(algorithm) && bytes.Equal(st.key, key) {
		return nil
	}
	st.algorithm, st.mac = string(algorithm), nil
	f := hmacHash(st.algorithm)
	switch {
	case f == nil:
		return errParam("HMAC_ALGORITHM", "algorithm", "hmac", "expects one of MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512, but got "+quoteSQL(st.algorithm)+".",
			map[string]string{"algorithm": quoteSQL(st.algorithm)})
	case len(key) == 0:
		return errParam("HMAC_CRYPTO_ERROR", "key", "hmac", "the key is empty.", map[string]string{"detailMessage": "the key is empty"})
	}
	st.key, st.mac = append(st.key[:0], key...), hmac.New(f, key)
	return nil
}

func hmacHash(name string) func() hash.Hash {
	switch strings.ToUpper(name) {
	case "MD5":
		return md5.New
	case "SHA-1", "SHA1":
		return sha1.New
	case "SHA-224", "SHA224":
		return sha256.New224
	case "SHA-256", "SHA256":
		return sha256.New
	case "SHA-384", "SHA384":
		return sha512.New384
	case "SHA-512", "SHA512":
		return sha512.New
	}
	return nil
}
