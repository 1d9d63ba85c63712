// Package deploy has what runs hookcd on a machine and in a cluster.
package deploy

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// realEnv is set where no test of real programs may be skipped.
const realEnv = "HOOKC_TEST_FLEET"

var built struct {
	sync.Once
	dir string
	err error
}

// TestMain takes away what was built.
func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built.dir)
	os.Exit(code)
}

// programs are hookcd and hookc, as an image has them.
func programs(t *testing.T) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "hookcd-deploy-*"); built.err != nil {
			return
		}
		for module, at := range map[string]string{"..": "./cmd/hookcd", "../..": "./cmd/hookc"} {
			build := exec.Command("go", "build", "-o", built.dir+"/", at)
			build.Dir, build.Env = module, append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				built.err = fmt.Errorf("%w: %s", err, out)
			}
		}
	})
	require.NoError(t, built.err)
	return built.dir
}

// TestUnits: systemd's own checker finds nothing wrong in the units, and hookcd takes the
// flags that are in them.
func TestUnits(t *testing.T) {
	checker, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if os.Getenv(realEnv) == "" {
			t.Skip("systemd is not installed")
		}
		require.NoError(t, err)
	}
	hookcd := filepath.Join(programs(t), "hookcd")
	for name, first := range map[string]string{"hookcd.service": "/etc/hookcd/tokens", "hookcd-node.service": "/etc/hookc/hookcd.yaml"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		unit := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(unit, []byte(strings.Replace(string(text), "/usr/bin/hookcd", hookcd, 1)), 0o600))
		out, err := exec.Command(checker, "verify", unit).CombinedOutput()
		require.NoError(t, err, string(out))
		require.NotContains(t, string(out), name+":", string(out))
		_, line, _ := strings.Cut(string(text), "ExecStart=/usr/bin/hookcd ")
		line, _, _ = strings.Cut(line, "\n")
		out, err = exec.Command(hookcd, strings.Fields(line)...).CombinedOutput()
		require.Error(t, err, "the files are not there")
		require.Contains(t, string(out), first, "the flags are understood, and the first file is looked for")
	}
}

// kinds are what the manifests hold, by the types of Kubernetes itself.
type kinds struct {
	account core.ServiceAccount
	deploy  apps.Deployment
	service core.Service
	budget  policy.PodDisruptionBudget
	network networking.NetworkPolicy
}

func manifests(t *testing.T) (k kinds) {
	t.Helper()
	text, err := os.ReadFile("kubernetes.yaml")
	require.NoError(t, err)
	into := map[string]any{"v1/ServiceAccount": &k.account, "apps/v1/Deployment": &k.deploy, "v1/Service": &k.service, "policy/v1/PodDisruptionBudget": &k.budget, "networking.k8s.io/v1/NetworkPolicy": &k.network}
	for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var is struct{ APIVersion, Kind string }
		require.NoError(t, yaml.Unmarshal(doc, &is))
		to := into[is.APIVersion+"/"+is.Kind]
		require.NotNil(t, to, is.Kind)
		require.NoError(t, yaml.UnmarshalStrict(doc, to), is.Kind)
		delete(into, is.APIVersion+"/"+is.Kind)
	}
	require.Empty(t, into)
	return k
}

// TestManifests: the manifests are what the types of Kubernetes take, with no unknown
// and no double key, and what they say of each other agrees.
func TestManifests(t *testing.T) {
	k := manifests(t)
	labels, pod := k.deploy.Spec.Template.Labels, k.deploy.Spec.Template.Spec
	for _, selector := range []map[string]string{k.deploy.Spec.Selector.MatchLabels, k.service.Spec.Selector, k.budget.Spec.Selector.MatchLabels, k.network.Spec.PodSelector.MatchLabels} {
		assert.Equal(t, labels, selector)
	}
	assert.Equal(t, k.account.Name, pod.ServiceAccountName)
	assert.Less(t, k.budget.Spec.MinAvailable.IntValue(), int(*k.deploy.Spec.Replicas), "a node can be drained")
	c := pod.Containers[0]
	for _, port := range []string{k.service.Spec.Ports[0].TargetPort.String(), k.network.Spec.Ingress[0].Ports[0].Port.String(), c.ReadinessProbe.HTTPGet.Port.String(), c.LivenessProbe.HTTPGet.Port.String()} {
		assert.Equal(t, c.Ports[0].Name, port)
	}
	var volumes, mounts []string
	for _, v := range pod.Volumes {
		volumes = append(volumes, v.Name)
	}
	for _, m := range c.VolumeMounts {
		mounts = append(mounts, m.Name)
	}
	assert.ElementsMatch(t, volumes, mounts)
	assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
}

// TestImage: what the recipe of the image copies, and nothing else, runs as the pod says,
// as its user and in a root of its own: it becomes ready, decides, keeps its record, and
// ends within the pod's time.
func TestImage(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv(realEnv) == "" {
			t.Skip("a root of its own needs root")
		}
		t.Fatal("a root of its own needs root")
	}
	k := manifests(t)
	pod := k.deploy.Spec.Template.Spec
	root, user := image(t)
	assert.Equal(t, fmt.Sprintf("%d:%d", *pod.SecurityContext.RunAsUser, *pod.SecurityContext.RunAsGroup), user)
	token, pool := mounted(t, root, pod)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	args := slices.Clone(pod.Containers[0].Args)
	for i, arg := range args {
		if strings.HasPrefix(arg, "--listen=") {
			args[i] = "--listen=" + address
		}
	}
	cmd := exec.Command("/usr/bin/hookcd", args...)
	cmd.Dir = "/"
	for _, e := range pod.Containers[0].Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	var said bytes.Buffer
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() })
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	get := func(probe *core.HTTPGetAction) int {
		res, err := client.Get(strings.ToLower(string(probe.Scheme)) + "://" + address + probe.Path)
		if err != nil {
			return 0
		}
		res.Body.Close()
		return res.StatusCode
	}
	for end := time.Now().Add(time.Minute); get(pod.Containers[0].ReadinessProbe.HTTPGet) != http.StatusOK; time.Sleep(20 * time.Millisecond) {
		require.True(t, time.Now().Before(end) && len(ended) == 0, "it is not ready: %s", &said)
	}
	assert.Equal(t, http.StatusOK, get(pod.Containers[0].LivenessProbe.HTTPGet))
	r, err := http.NewRequest(http.MethodPost, "https://"+address+"/v1/events/pre_tool_execution", strings.NewReader(`{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"forbidden"}}`))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := client.Do(r)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"block"`)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-ended:
		require.NoError(t, err, &said)
	case <-time.After(time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second):
		t.Fatal("it did not end in time")
	}
	kept, err := filepath.Glob(filepath.Join(root, "var/lib/hookcd/record/*.jsonl"))
	require.NoError(t, err)
	assert.NotEmpty(t, kept)
}

// image lays out what the recipe copies, and gives the user that it names.
func image(t *testing.T) (root, user string) {
	t.Helper()
	recipe, err := os.ReadFile("Containerfile")
	require.NoError(t, err)
	from, root := programs(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(from, "ca-certificates.crt"), nil, 0o644))
	for dir := root; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	for line := range strings.Lines(string(recipe)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 2 && f[0] == "COPY":
			to := filepath.Join(root, f[len(f)-1])
			require.NoError(t, os.MkdirAll(to, 0o755))
			for _, name := range f[1 : len(f)-1] {
				require.NoError(t, os.Link(filepath.Join(from, name), filepath.Join(to, name)))
			}
		case len(f) == 2 && f[0] == "USER":
			user = f[1]
		case len(f) > 0 && f[0] == "ENTRYPOINT":
			require.Equal(t, `["/usr/bin/hookcd"]`, f[1])
		}
	}
	return root, user
}

// mounted puts what the volumes of the pod hold into its root.
func mounted(t *testing.T, root string, pod core.PodSpec) (token string, trust *x509.CertPool) {
	t.Helper()
	cert, key, trust := certificate(t)
	token = "secret"
	held := map[string]map[string]string{
		"policy":  {"hooks.yaml": "pre_tool_execution:\n  - {name: guard, deny: 'command == \"forbidden\"', reason: no}\n"},
		"tls":     {"tls.crt": cert, "tls.key": key},
		"clients": {"tokens": fmt.Sprintf("team sha256:%x\n", sha256.Sum256([]byte(token)))},
		"record":  {},
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		files, known := held[m.Name]
		require.True(t, known, m.Name)
		at := filepath.Join(root, m.MountPath)
		require.NoError(t, os.MkdirAll(at, 0o755))
		for name, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(at, name), []byte(text), 0o440))
			require.NoError(t, os.Chown(filepath.Join(at, name), 0, 65532))
		}
		if !m.ReadOnly {
			require.NoError(t, os.Chown(at, 65532, 65532))
		}
	}
	return token, trust
}

func certificate(t *testing.T) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	made := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &private.PublicKey, private)
	require.NoError(t, err)
	text, wrong := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, errors.Join(err, wrong))
	cert = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	trust = x509.NewCertPool()
	require.True(t, trust.AppendCertsFromPEM([]byte(cert)))
	return cert, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})), trust
}
