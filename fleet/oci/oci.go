// Package oci keeps bundles in OCI registries, in the form in which OPA fetches them:
// a manifest with one layer, which is the bundle's file.
package oci

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/hookc/hookc/internal/bundle"
)

// most is how large a bundle may be.
const most = 256 << 20

// Registry says how a registry is reached and who asks it.
type Registry struct {
	// User and PasswordFile are for registries that take a name and a password.
	// Without them the credentials are those that docker login has kept.
	User, PasswordFile string
	// Authority is a PEM file of authorities to trust beside the system's.
	Authority string
	// Plain is HTTP without TLS, to a loopback address alone.
	Plain bool
}

// open finds the repository and the tag or digest that a reference names.
func (r Registry) open(reference string) (repo *remote.Repository, err error) {
	if repo, err = remote.NewRepository(reference); err != nil {
		return nil, fmt.Errorf("%s: %w: write HOST/NAME:TAG or HOST/NAME@DIGEST", reference, err)
	}
	if repo.Reference.Reference == "" {
		return nil, fmt.Errorf("%s names neither a tag nor a digest: write HOST/NAME:TAG or HOST/NAME@DIGEST", reference)
	}
	if r.Plain && !local(repo.Reference.Host()) {
		return nil, fmt.Errorf("--plain-http is for a registry on this machine, and %s is none: credentials would be read on the way", repo.Reference.Host())
	}
	client := &auth.Client{Client: retry.DefaultClient, Cache: auth.NewCache()}
	if client.Client, err = r.client(); err != nil {
		return nil, err
	}
	if client.Credential, err = r.credential(repo.Reference.Registry); err != nil {
		return nil, err
	}
	repo.PlainHTTP, repo.Client = r.Plain, client
	return repo, nil
}

func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (r Registry) client() (*http.Client, error) {
	if r.Authority == "" {
		return retry.DefaultClient, nil
	}
	text, err := os.ReadFile(r.Authority)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate", r.Authority)
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: retry.NewTransport(base)}, nil
}

func (r Registry) credential(host string) (auth.CredentialFunc, error) {
	if (r.User == "") != (r.PasswordFile == "") {
		return nil, errors.New("--username and --password-file go together")
	}
	if r.User == "" {
		kept, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
		if err != nil {
			return nil, fmt.Errorf("what docker login has kept cannot be read: %w", err)
		}
		return credentials.Credential(kept), nil
	}
	text, err := os.ReadFile(r.PasswordFile)
	if err != nil {
		return nil, err
	}
	return auth.StaticCredential(host, auth.Credential{Username: r.User, Password: strings.TrimRight(string(text), "\r\n")}), nil
}

// Push puts a bundle in a registry and returns the digest that names it for ever. The
// same bundle has the same digest.
func (r Registry) Push(ctx context.Context, packed []byte, reference string) (digest string, err error) {
	read, err := bundle.Read(reference, bytes.NewReader(packed), nil)
	if err != nil {
		return "", err
	}
	repo, err := r.open(reference)
	if err != nil {
		return "", err
	}
	if repo.Reference.ValidateReferenceAsDigest() == nil {
		return "", fmt.Errorf("%s: a bundle is pushed to a tag, and its digest follows from it", reference)
	}
	layer, err := oras.PushBytes(ctx, repo, v1.MediaTypeImageLayerGzip, packed)
	if err != nil && !errors.Is(err, errdef.ErrAlreadyExists) {
		return "", err
	}
	config, err := oras.PushBytes(ctx, repo, v1.MediaTypeImageConfig, []byte("{}"))
	if err != nil && !errors.Is(err, errdef.ErrAlreadyExists) {
		return "", err
	}
	manifest, err := oras.PackManifest(ctx, repo, oras.PackManifestVersion1_1, "", oras.PackManifestOptions{
		Layers: []v1.Descriptor{layer}, ConfigDescriptor: &config,
		ManifestAnnotations: map[string]string{v1.AnnotationRevision: read.Manifest.Revision, v1.AnnotationCreated: "1970-01-01T00:00:00Z"}})
	if err != nil {
		return "", err
	}
	return manifest.Digest.String(), repo.Tag(ctx, manifest, repo.Reference.Reference)
}

// Pull fetches the bundle that a tag or a digest names, whole or not at all. No
// signature is looked at.
func (r Registry) Pull(ctx context.Context, reference string) (packed []byte, digest string, err error) {
	repo, err := r.open(reference)
	if err != nil {
		return nil, "", err
	}
	named, text, err := oras.FetchBytes(ctx, repo, repo.Reference.Reference, oras.FetchBytesOptions{MaxBytes: 4 << 20})
	if err != nil {
		return nil, "", err
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, "", fmt.Errorf("%s: its manifest cannot be read: %w", reference, err)
	}
	for _, layer := range manifest.Layers {
		if layer.MediaType != v1.MediaTypeImageLayerGzip {
			continue
		}
		if layer.Size > most {
			return nil, "", fmt.Errorf("%s is of %d bytes, and a bundle of %d at most", reference, layer.Size, most)
		}
		packed, err := content.FetchAll(ctx, repo, layer) // which compares size and digest
		if err != nil {
			return nil, "", fmt.Errorf("%s: the bundle did not come whole: %w", reference, err)
		}
		_, err = bundle.Read(reference, bytes.NewReader(packed), nil)
		return packed, named.Digest.String(), err
	}
	return nil, "", fmt.Errorf("%s holds no bundle: it has no layer %s", reference, v1.MediaTypeImageLayerGzip)
}
